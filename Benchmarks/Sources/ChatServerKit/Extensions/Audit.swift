import Dispatch
import ServiceContextModule

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes down what happened and on whose behalf, a line each.
///
/// Writing blocks, so it has a queue of its own; and if the disk is slower than the chat, so much may
/// wait and no more: what comes then is missing from the file, and counted in the statistics as dropped.
final class Audit: ServerExtension, RoomObserver {
  let name = "audit"
  let options: ExtensionOptions
  private let file: Int32

  /// - Throws: a refusal if the file cannot be opened.
  init(path: String, backlog: Int = 100_000) throws {
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw Refusal("cannot write \(path): \(String(cString: strerror(errno)))")
    }
    options = ExtensionOptions(queue: DispatchQueue(label: "audit"), backlog: backlog)
  }

  deinit {
    close(file)
  }

  func didPost(_ message: Message) {
    write("posted \(message.room) \(message.number) \(message.sender): \(message.text)")
  }

  func didRefuse(_ draft: Draft, because reason: String) {
    write("refused \(draft.room) \(draft.sender.name): \(draft.text) [\(reason)]")
  }

  func room(_ room: String, didAdmit user: User) {
    write("admitted \(room) \(user.name)")
  }

  func room(_ room: String, didDismiss user: User) {
    write("dismissed \(room) \(user.name)")
  }

  private func write(_ event: String) {
    let cause = ServiceContext.current?.request ?? "-"
    var line = "\(cause) \(event)\n"
    line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        #if canImport(Glibc)
          let count = Glibc.write(file, rest.baseAddress, rest.count)
        #elseif canImport(Musl)
          let count = Musl.write(file, rest.baseAddress, rest.count)
        #else
          let count = Darwin.write(file, rest.baseAddress, rest.count)
        #endif
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }
}

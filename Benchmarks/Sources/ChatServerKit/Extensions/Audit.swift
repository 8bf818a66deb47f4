import Dispatch
import ServiceContextModule
import Synchronization

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
/// wait and no more: what comes then is missing from the file, and counted in the statistics as dropped. What cannot
/// be written fails, so it is logged and counted as failed. The server's exit status tells of both, and of what still
/// waits at the end.
final class Audit: ServerExtension, RoomObserver {
  let name = "audit"
  let options: ExtensionOptions
  private let path: String
  private let losses: AuditLosses
  private let file: Int32
  /// Whether the last line was written in part; only on the queue.
  private let isTorn = Atomic(false)

  /// Makes an audit.
  ///
  /// - Parameters:
  ///   - path: the file, to which it appends.
  ///   - backlog: how many events may wait to be written.
  ///   - losses: counts what could not be written.
  /// - Throws: a refusal if the file cannot be opened.
  init(path: String, backlog: Int = 4000, losses: AuditLosses = AuditLosses()) throws {
    self.path = path
    self.losses = losses
    // A pipe that nobody reads would keep `open` until somebody does.
    file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard file >= 0 else {
      let reason = errno == ENXIO ? "nobody reads the pipe" : String(cString: strerror(errno))
      throw Refusal("cannot write \(path): \(reason)")
    }
    // From here on whoever writes waits, on a queue of its own, for a disk or a reader that is slow.
    _ = fcntl(file, F_SETFL, O_APPEND)
    options = ExtensionOptions(queue: DispatchQueue(label: "audit"), backlog: backlog)
  }

  deinit {
    close(file)
  }

  func didPost(_ message: Message) throws {
    try write("posted \(message.room) \(message.number) \(message.sender): \(message.text)")
  }

  func didRefuse(_ draft: Draft, because reason: String) throws {
    try write("refused \(draft.room) \(draft.sender.name): \(draft.text) [\(reason)]")
  }

  func room(_ room: String, didAdmit user: User) throws {
    try write("admitted \(room) \(user.name)")
  }

  func room(_ room: String, didDismiss user: User) throws {
    try write("dismissed \(room) \(user.name)")
  }

  private func write(_ event: String) throws {
    let cause = ServiceContext.current?.request ?? "-"
    // What is torn ends with its line.
    var line = "\(isTorn.load(ordering: .relaxed) ? "\n" : "")\(cause) \(event)\n"
    let failure = line.withUTF8 { bytes -> Int32? in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = platformWrite(file, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
          isTorn.store(!rest.isEmpty, ordering: .relaxed)
        } else if count == 0 || errno != EINTR {
          return count == 0 ? EIO : errno
        }
      }
      return nil
    }
    guard let failure else { return }
    losses.add()
    throw Refusal("cannot write \(path): \(String(cString: strerror(failure)))")
  }
}

// Inside the class the name means its own function.
private let platformWrite = write(_:_:_:)

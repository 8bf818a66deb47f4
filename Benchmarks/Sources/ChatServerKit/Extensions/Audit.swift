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
final class Audit: ServerExtension, RoomObserver, Renewable {
  let name = "audit"
  let options: ExtensionOptions
  private let path: String
  private let losses: AuditLosses
  private let output: Mutex<Output>

  fileprivate struct Output {
    var file: Int32
    /// Whether the last line was written in part.
    var isTorn = false
  }

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
    output = Mutex(Output(file: try Self.open(path)))
    options = ExtensionOptions(queue: DispatchQueue(label: "audit"), backlog: backlog)
  }

  deinit {
    close(output.withLock { $0.file })
  }

  private static func open(_ path: String) throws -> Int32 {
    // A pipe that nobody reads would keep `open` until somebody does.
    let file = platformOpen(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0o600)
    guard file >= 0 else {
      let reason = errno == ENXIO ? "nobody reads the pipe" : String(cString: strerror(errno))
      throw Refusal("cannot write \(path): \(reason)")
    }
    // From here on whoever writes waits, on a queue of its own, for a disk or a reader that is slow.
    _ = fcntl(file, F_SETFL, O_APPEND)
    return file
  }

  /// Opens the file anew, and goes on in it after the line that is being written.
  ///
  /// What waits to be written is not touched, so nothing is lost or written twice.
  func renew() throws {
    let newcomer = Output(file: try Self.open(path))
    // Not here, for the disk may be slow.
    options.queue?.async { [self] in
      let former = output.withLock { output in
        defer { output = newcomer }
        return output.file
      }
      close(former)
    }
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
    let failure = output.withLock { $0.write("\(cause) \(event)\n") }
    guard let failure else { return }
    losses.add()
    throw Refusal("cannot write \(path): \(String(cString: strerror(failure)))")
  }
}

extension Audit.Output {
  /// Writes a line.
  ///
  /// - Returns: the error's number, if it could not.
  fileprivate mutating func write(_ line: String) -> Int32? {
    // What is torn ends with its line.
    var line = isTorn ? "\n" + line : line
    return line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = platformWrite(file, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
          isTorn = !rest.isEmpty
        } else if count == 0 || errno != EINTR {
          return count == 0 ? EIO : errno
        }
      }
      return nil
    }
  }
}

// Inside the class the names mean its own functions.
private let platformWrite = write(_:_:_:)
private func platformOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
  open(path, flags, mode)
}

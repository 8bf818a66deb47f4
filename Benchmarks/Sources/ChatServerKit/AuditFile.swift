import Delegation
import Dispatch
import Foundation
import Synchronization

/// Appends each line to a file, and returns when the file has it: a line is there as a whole, or not at all.
///
/// Writing blocks a thread, so it subscribes with a queue of its own. An actor would block a thread of the pool.
public final class AuditFile: AuditLog {
  private struct State {
    var file: FileHandle
    var written = 0
    var failed = 0
  }

  private let state: Mutex<State>

  /// Opens a file, which is made if there is none.
  ///
  /// - Throws: an error that names the file, if it cannot be opened.
  public init(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw AuditError(text: "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    state = Mutex(
      State(file: FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)))
  }

  /// Subscribes it to a hub, which keeps it.
  public func subscribe(to hub: DelegateHub) {
    // sample: ChatAudit
    let queue = DispatchQueue(label: "audit")
    hub.subscribe(
      self, to: AuditLog.self, hold: .strongly, on: DispatchQueueExecutor(queue))
    // end of sample
  }

  /// How many lines were written, and how many were not.
  public var counts: (written: Int, failed: Int) { state.withLock { ($0.written, $0.failed) } }

  /// Appends a line.
  ///
  /// - Throws: why it is not in the file.
  public func write(_ line: String) throws {
    // A hub calls one handler at a time; the lock is for `counts`.
    try state.withLock { state in
      // Not the offset: before the first write that is 0, and what is there would be cut off.
      let end = try? state.file.seekToEnd()
      do {
        try state.file.write(contentsOf: Data("\(line)\n".utf8))
        state.written += 1
      } catch {
        state.failed += 1
        // Half a line may be there.
        if let end { try? state.file.truncate(atOffset: end) }
        throw AuditError(text: "\(error.localizedDescription)")
      }
    }
  }
}

/// Why a line is not in the audit's file.
struct AuditError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

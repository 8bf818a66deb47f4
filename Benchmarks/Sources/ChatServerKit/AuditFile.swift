import Delegation
import Dispatch
import Foundation
import Synchronization

/// Appends each line to a file, and returns when the file has it: a line is there as a whole, or not at all.
///
/// Writing blocks a thread, so it subscribes with a queue of its own. An actor would block a thread of the pool.
package final class AuditFile: AuditLog {
  private let file: Mutex<FileHandle>
  // Not behind the lock, which is held while the disk takes its time.
  private let written = Atomic(0)
  private let failed = Atomic(0)

  /// Opens a file, which is made if there is none.
  ///
  /// - Throws: an error that names the file, if it cannot be opened.
  package init(_ path: String) throws {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ChatError(text: "cannot open \(path): \(String(cString: strerror(errno)))")
    }
    file = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
  }

  /// Subscribes it to a hub, which keeps it.
  package func subscribe(to hub: DelegateHub) {
    // sample: ChatAudit
    let queue = DispatchQueue(label: "audit")
    hub.subscribe(
      self, to: AuditLog.self, hold: .strongly, on: DispatchQueueExecutor(queue))
    // end of sample
  }

  /// How many lines were written, and how many were not; returns at once, also while a line is being written.
  package var counts: (written: Int, failed: Int) {
    (written.load(ordering: .relaxed), failed.load(ordering: .relaxed))
  }

  /// Appends a line.
  ///
  /// - Throws: why it is not in the file.
  package func write(_ line: String) throws {
    // A hub calls one handler at a time; others may not.
    try file.withLock { file in
      // Not the offset: before the first write that is 0, and what is there would be cut off.
      let end = try? file.seekToEnd()
      do {
        try file.write(contentsOf: Data("\(line)\n".utf8))
        written.add(1, ordering: .relaxed)
      } catch {
        failed.add(1, ordering: .relaxed)
        // Half a line may be there.
        if let end { try? file.truncate(atOffset: end) }
        let cause =
          (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError ?? error as NSError
        throw ChatError(text: String(cString: strerror(Int32(cause.code))))
      }
    }
  }
}

/// Why a line is not in the audit's file, or nobody can connect.
struct ChatError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

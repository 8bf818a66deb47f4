import Foundation
import Synchronization

/// Reads a pipe line by line.
final class LineReader: Sendable {
  private let handle: FileHandle
  private let unread = Mutex(Data())

  init(_ handle: FileHandle) {
    self.handle = handle
  }

  /// Waits for the next line; `nil` at the end.
  func next() -> String? {
    unread.withLock { unread in
      while true {
        if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
          defer { unread = Data(unread[(end + 1)...]) }
          return String(decoding: unread[..<end], as: UTF8.self)
        }
        let more = handle.availableData
        guard !more.isEmpty else {
          guard !unread.isEmpty else { return nil }
          defer { unread = Data() }
          return String(decoding: unread, as: UTF8.self)
        }
        unread += more
      }
    }
  }
}

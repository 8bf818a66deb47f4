import Synchronization

/// Remembers the last messages of each room, up to so many and so many bytes, as long as there is the room.
final class History: ServerExtension, RoomObserver, HistoryKeeper {
  let name = "history"
  private let capacity: Int
  private let byteLimit: Int
  private let messages = Mutex<[String: [Message]]>([:])

  init(capacity: Int = 100, byteLimit: Int = 64 * 1024) {
    self.capacity = capacity
    self.byteLimit = byteLimit
  }

  /// How many rooms it remembers anything of.
  var roomCount: Int { messages.withLock { $0.count } }

  func didPost(_ message: Message) {
    messages.withLock { add(message, to: &$0[message.room, default: []]) }
  }

  /// Adds a message to those of its room, and forgets those for which there is no space any more.
  private func add(_ message: Message, to messages: inout [Message]) {
    messages.append(message)
    // Removing at the front moves all the others: not each time.
    if messages.count == 2 * capacity { messages.removeFirst(capacity) }
    let horizon = message.end - byteLimit
    if let kept = messages.firstIndex(where: { $0.end - $0.size >= horizon }), kept > 0 {
      messages.removeFirst(kept)
    }
  }

  func didClose(_ room: String) {
    messages.withLock { $0[room] = nil }
  }

  func recent(_ count: Int, in room: String) async -> [Message]? {
    messages.withLock { $0[room]?.suffix(min(count, capacity)) }
  }
}

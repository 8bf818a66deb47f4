import Synchronization

/// Remembers the last messages of each room, as long as there is the room.
final class History: ServerExtension, RoomObserver, HistoryKeeper {
  let name = "history"
  private let capacity: Int
  private let messages = Mutex<[String: [Message]]>([:])

  init(capacity: Int = 100) {
    self.capacity = capacity
  }

  /// How many rooms it remembers anything of.
  var roomCount: Int { messages.withLock { $0.count } }

  func didPost(_ message: Message) {
    messages.withLock { messages in
      messages[message.room, default: []].append(message)
      // Removing at the front moves all the others: not each time.
      if messages[message.room]?.count == 2 * capacity {
        messages[message.room]?.removeFirst(capacity)
      }
    }
  }

  func didClose(_ room: String) {
    messages.withLock { $0[room] = nil }
  }

  func recent(_ count: Int, in room: String) async -> [Message]? {
    messages.withLock { $0[room]?.suffix(min(count, capacity)) }
  }
}

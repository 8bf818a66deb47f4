import Synchronization

/// Remembers the last messages of each room, as many as it may and as fit into the room's share of memory, as long as
/// there is the room.
final class History: ServerExtension, RoomObserver, HistoryKeeper {
  let name = "history"
  let options = ExtensionOptions()
  private let capacity: Int
  private let share: RoomShare
  private let messages = Mutex<[String: [Message]]>([:])

  init(
    capacity: Int = 100, bytes share: RoomShare = .init(each: 64 * 1024, all: 16 * 1024 * 1024)
  ) {
    self.capacity = capacity
    self.share = share
  }

  /// How many rooms it remembers anything of.
  var roomCount: Int { messages.withLock { $0.count } }

  func didPost(_ message: Message) {
    messages.withLock { messages in
      let bytes = share.bytes(with: messages.count)
      add(message, to: &messages[message.room, default: []], allowing: bytes)
    }
  }

  /// Adds a message to those of its room, and forgets those for which there is no space any more.
  private func add(_ message: Message, to messages: inout [Message], allowing bytes: Int) {
    messages.append(message)
    // Removing at the front moves all the others: not each time.
    if messages.count == 2 * capacity { messages.removeFirst(capacity) }
    let horizon = message.end - bytes
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

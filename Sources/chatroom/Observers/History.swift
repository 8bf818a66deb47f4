/// Remembers what was delivered last.
actor History: RoomObserver {
  let capacity: Int
  private var messages: [Message] = []

  init(capacity: Int = 1000) {
    self.capacity = capacity
  }

  func last(_ count: Int) -> [Message] {
    messages.suffix(min(count, capacity))
  }

  func room(_ room: Room, didDeliver message: Message) {
    messages.append(message)
    // Removing at the front moves all the others: not each time.
    if messages.count == 2 * capacity { messages.removeFirst(capacity) }
  }

  func room(_ room: Room, didVeto message: Message, for veto: Veto) {}
}

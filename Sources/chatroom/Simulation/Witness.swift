/// Watches that each sender's messages are told in the order in which they were sent.
actor Witness: RoomObserver {
  /// How often it was told something.
  private(set) var told = 0
  /// How often a message came after a later one of the same sender.
  private(set) var outOfOrder = 0

  private var lastOfSender: [String: Duration] = [:]

  func room(_ room: Room, didDeliver message: Message) {
    see(message)
  }

  func room(_ room: Room, didVeto message: Message, for veto: Veto) {
    see(message)
  }

  private func see(_ message: Message) {
    told += 1
    let last = lastOfSender.updateValue(message.sentAt, forKey: message.senderKey)
    if let last, last >= message.sentAt { outOfOrder += 1 }
  }
}

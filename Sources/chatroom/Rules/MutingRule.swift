/// Vetoes whatever one sender says, for as long as it lives.
final class MutingRule: RoomRule {
  let name = "muting rule"
  var detail: String { "nothing from \(sender)" }
  /// Whom it is against, to compare by.
  let key: String

  private let sender: String

  init(_ sender: String) {
    self.sender = sender
    key = sender.lowercased()
  }

  func room(_ room: Room, mayDeliver message: Message) -> Verdict {
    message.senderKey == key ? .veto(because: "\(message.sender) is muted") : .agree
  }
}

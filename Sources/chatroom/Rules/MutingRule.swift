/// Vetoes whatever one sender says, as long as the rule lives.
final class MutingRule: RoomRule {
  let name = "muting rule"
  var detail: String { "nothing from \(sender)" }
  /// The sender, for comparisons.
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

/// What somebody says.
struct Message: Sendable, Equatable {
  let sender: String
  let text: String
  /// How long after the opening of the room it was said.
  ///
  /// A value and not a clock that rules read: so the same messages in the same order are judged the same, however fast
  /// they come.
  let sentAt: Duration
  /// The sender, for comparisons: neither "Bob" nor "BOB" gets around a rule for "bob".
  let senderKey: String

  init(from sender: String, _ text: String, at sentAt: Duration) {
    self.sender = sender
    self.text = text
    self.sentAt = sentAt
    senderKey = sender.lowercased()
  }

  var shown: String { "\(sender): \(text)" }
}

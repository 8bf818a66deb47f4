/// Somebody who is asked before a message is delivered.
///
/// All rules are asked side by side, so no rule may count on another's having been asked before.
protocol RoomRule: AnyObject, Sendable {
  /// Who vetoed, if it did.
  var name: String { get }
  /// What it looks for.
  var detail: String { get }

  func room(_ room: Room, mayDeliver message: Message) async -> Verdict
}

/// What a rule says of a message.
enum Verdict: Sendable, Equatable {
  case agree
  case veto(because: String)
}

/// What a room did not deliver a message for.
struct Veto: Sendable, Equatable {
  let rule: String
  let reason: String
}

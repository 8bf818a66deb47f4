/// A rule is asked before a message is delivered.
///
/// All rules are asked side by side, so no rule may rely on another having been asked before.
protocol RoomRule: AnyObject, Sendable {
  /// The name for the rule's vetoes.
  var name: String { get }
  /// What the rule looks for.
  var detail: String { get }

  func room(_ room: Room, mayDeliver message: Message) async -> Verdict
}

/// What a rule says of a message.
enum Verdict: Sendable, Equatable {
  case agree
  case veto(because: String)
}

/// Why a room did not deliver a message.
struct Veto: Sendable, Equatable {
  let rule: String
  let reason: String
}

/// How much is measured.
struct Plan: Sendable {
  /// How often every contestant of a contest runs.
  let rounds: Int
  /// How long one contestant's turn in a round should take.
  let turn: Nanoseconds
  /// Whether contestants are left out that take half a second for a single call.
  let skipsSlowControls: Bool
  /// How the names of those begin who run alone, for a profiler to look at; all run if `nil`.
  var soloist: String?

  /// For a table that is to be quoted: about a minute.
  static let full = Plan(rounds: 21, turn: 40e6, skipsSlowControls: false)
  /// For CI and for a look in between: about ten seconds.
  static let quick = Plan(rounds: 9, turn: 8e6, skipsSlowControls: true)
}

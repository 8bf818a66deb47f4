/// How much is measured.
struct Plan: Sendable {
  /// How often every contestant of a contest runs.
  let rounds: Int
  /// How long one contestant's turn in a round should take.
  let turn: Nanoseconds
  /// Whether contestants are left out that take half a second for a single call.
  let skipsSlowControls: Bool
  /// How often memory is measured, which chance moves but little.
  let countings: Int
  /// How the names of those begin who run alone, for a profiler to look at; all run if `nil`.
  var soloist: String?

  /// For a table that is to be quoted: some five minutes.
  static let full = Plan(rounds: 15, turn: 40e6, skipsSlowControls: false, countings: 3)
  /// For CI and for a look in between: a minute.
  static let quick = Plan(rounds: 9, turn: 8e6, skipsSlowControls: true, countings: 1)
}

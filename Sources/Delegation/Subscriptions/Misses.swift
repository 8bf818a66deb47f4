/// How often a subscriber gave no answer to a question.
struct Misses: Sendable, Hashable {
  /// Its handler threw.
  var failed = 0
  /// It had not answered at a deadline.
  var late = 0
}

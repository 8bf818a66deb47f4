/// Folds responses in the order of the subscriptions, in whatever order they come.
///
/// A response that comes in order is folded at once. One that comes early is kept until all before it
/// have come or are missing. So the outcome does not depend on which subscriber was faster, even if the
/// fold is not commutative, as with floating-point sums.
@frozen
@usableFromInline
struct InOrderFold<Outcome: Sendable, Response: Sendable>: Sendable {
  /// The fold of all positions before `next`; of all positions, once none is outstanding.
  @usableFromInline
  var outcome: Outcome
  /// The first position that has neither come nor is missing.
  @usableFromInline
  var next = 0
  /// The responses that came early, by position; `nil` for an absentee.
  @usableFromInline
  var early: [Int: Response?] = [:]

  /// Starts with the outcome for no responses.
  @inlinable
  init(_ initial: Outcome) { outcome = initial }

  /// Takes a response, or `nil` for an absentee, and folds all that are in order now.
  ///
  /// - Complexity: O(1), amortised over all positions.
  @inlinable
  mutating func place(
    _ response: Response?, at position: Int, _ fold: (inout Outcome, Response) -> Void
  ) {
    guard position == next else {
      early.updateValue(response, forKey: position)
      return
    }
    if let response { fold(&outcome, response) }
    next += 1
    while !early.isEmpty, let response = early.removeValue(forKey: next) {
      if let response { fold(&outcome, response) }
      next += 1
    }
  }
}

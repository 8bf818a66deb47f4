/// Folds responses in the order of the subscriptions, whatever order they come in.
///
/// What comes in its turn is folded at once; what comes early is kept until all before it have come
/// or are missing. So the outcome never depends on who was faster, not even if the fold is not
/// commutative, as with floating-point sums.
struct InOrderFold<Outcome: Sendable, Response: Sendable>: Sendable {
  /// The fold of all positions before `next`: of everything, once nobody is outstanding.
  var outcome: Outcome
  /// The first position that has neither come nor is missing.
  private var next = 0
  /// What came before its turn, by position; `nil` for an absentee.
  private var early: [Int: Response?] = [:]

  /// Starts with the outcome of no response.
  init(_ initial: Outcome) { outcome = initial }

  /// Takes a response, or `nil` for an absentee, and folds all whose turn it now is.
  ///
  /// - Complexity: O(1), amortised over all positions.
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

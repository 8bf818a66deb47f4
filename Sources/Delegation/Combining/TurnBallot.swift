/// The result of one subscriber's turn.
@usableFromInline
enum Turn<Value: Sendable, Failure: Error>: Sendable {
  /// The next subscriber is asked, with this value.
  case goOn(Value)
  /// No further subscriber is asked.
  case stop(Result<Value, Failure>)
}

/// The count of a question that is asked in turn and has a deadline.
@usableFromInline
struct TurnBallot<Value: Sendable>: Countable {
  /// `nil` for a subscriber that was not asked, or is skipped.
  @usableFromInline
  typealias Event = Turn<Value, Never>?

  @usableFromInline
  var value: Value
  @usableFromInline
  var isComplete = true
  /// How many subscribers are to be asked.
  private let count: Int
  /// The position whose turn it is.
  private var next = 0

  @usableFromInline
  init(asking count: Int, startingWith value: Value) {
    self.count = count
    self.value = value
  }

  @usableFromInline
  static var absence: Event { nil }

  @usableFromInline
  mutating func begin() -> Value? { count == 0 ? value : nil }

  @usableFromInline
  mutating func count(_ turn: Event, from position: Int) -> Value? {
    next = position + 1
    switch turn {
    case nil: break
    case .goOn(let value): self.value = value
    case .stop(.success(let value)): return value
    }
    return next == count ? value : nil
  }

  /// Ends the count at the deadline.
  ///
  /// - Parameter absence: what to count for the position whose turn it is, then for those after it.
  /// - Returns: the value so far, unless an absence decides.
  @usableFromInline
  mutating func expire(counting absence: (Int) -> Event) -> Value {
    // The handler whose turn it is may be running.
    isComplete = false
    while next < count {
      if let decision = count(absence(next), from: next) { return decision }
    }
    return value
  }

  @usableFromInline
  mutating func clear() {}
}

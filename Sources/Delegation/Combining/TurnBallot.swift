/// What follows from one subscriber's turn.
@usableFromInline
enum Turn<Value: Sendable, Failure: Error>: Sendable {
  /// The next one is asked, with this value.
  case goOn(Value)
  /// Nobody further is asked.
  case stop(Result<Value, Failure>)
}

/// The count of a call that asks one after another and has a deadline: what is decided so far.
@usableFromInline
struct TurnBallot<Value: Sendable>: Countable {
  /// `nil` from one who was not there, or is passed over.
  @usableFromInline
  typealias Event = Turn<Value, Never>?

  @usableFromInline
  var value: Value
  @usableFromInline
  var isComplete = true
  /// How many are to be asked.
  private let count: Int
  /// The position of the one whose turn it is.
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

  /// Ends the count at the deadline: the value so far, unless the one whose turn it is, or one after
  /// it, counts as something.
  @usableFromInline
  mutating func expire(counting absence: (Int) -> Event) -> Value {
    // The one whose turn it is may be running.
    isComplete = false
    while next < count {
      if let decision = count(absence(next), from: next) { return decision }
    }
    return value
  }

  @usableFromInline
  mutating func clear() {}
}

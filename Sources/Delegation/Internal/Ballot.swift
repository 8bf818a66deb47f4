/// What comes in from one subscriber that was to be asked.
enum Answer<Response: Sendable, Failure: Error>: Sendable {
  /// The subscriber answered.
  case response(Response)
  /// The subscriber was not there to be asked, or abstained.
  case absence
  /// The subscriber's handler threw, which fails the call.
  case failure(Failure)
}

/// The count of one call of the asking kind: how many are outstanding, and what is decided.
struct Ballot<C: Combiner, Failure: Error>: Sendable {
  typealias Event = Answer<C.Response, Failure>
  typealias Decision = Result<C.Outcome, Failure>

  private var combiner: C
  private var outstanding: Int

  init(asking count: Int, combiner: C) {
    self.combiner = combiner
    outstanding = count
  }

  /// Starts the count.
  ///
  /// - Returns: the outcome if nobody need be asked.
  mutating func begin() -> Decision? {
    if let outcome = combiner.begin(asking: outstanding) { return .success(outcome) }
    return outstanding == 0 ? .success(combiner.finish()) : nil
  }

  /// Counts one event.
  ///
  /// - Returns: the decision if there now is one; nothing may be counted after it.
  mutating func count(_ event: Event, from position: Int) -> Decision? {
    outstanding -= 1
    let outcome: C.Outcome?
    switch event {
    case .response(let response): outcome = combiner.receive(response, from: position)
    case .absence: outcome = combiner.miss(position)
    case .failure(let error): return .failure(error)
    }
    if let outcome { return .success(outcome) }
    return outstanding == 0 ? .success(combiner.finish()) : nil
  }
}

/// Carries one ballot from many workers to one caller.
///
/// The combiner is the user's code, so it never runs under the lock: whoever brings an answer takes the
/// ballot out, counts outside, and puts it back; what comes meanwhile queues up and is counted by the
/// one who has the ballot.
@usableFromInline
final class Poll<C: Combiner, Failure: Error>: Sendable {
  @usableFromInline
  typealias Event = Answer<C.Response, Failure>
  @usableFromInline
  typealias Decision = Result<C.Outcome, Failure>

  @usableFromInline
  enum Input: Sendable {
    case answer(Event, position: Int)
    case deadline
  }

  @usableFromInline
  struct State: Sendable {
    /// `nil` while somebody counts, and after the decision.
    @usableFromInline
    var ballot: Ballot<C, Failure>?
    @usableFromInline
    var queue = Queue<Input>()
    @usableFromInline
    var decision: Decision?
    @usableFromInline
    var caller: CheckedContinuation<Decision, Never>?

    @inlinable
    init(ballot: Ballot<C, Failure>) {
      self.ballot = ballot
    }
  }

  @usableFromInline
  let state: Lock<State>
  /// What to count at the deadline for those who have not answered.
  @usableFromInline
  let absence: @Sendable (Int) -> Event

  @inlinable
  init(
    _ ballot: Ballot<C, Failure>, absence: @escaping @Sendable (Int) -> Event = { _ in .absence }
  ) {
    state = Lock(State(ballot: ballot))
    self.absence = absence
  }

  @inlinable
  deinit {}

  /// Starts the count, before anybody else knows of the poll.
  ///
  /// - Parameter isExpired: whether the deadline is past already.
  /// - Returns: the decision if nobody need be asked.
  @inlinable
  func open(isExpired: Bool) -> Decision? {
    guard var ballot = state.withLock({ $0.ballot.take() }) else { return nil }
    if let decision = ballot.begin() { return decision }
    if isExpired { return ballot.expire(counting: absence) }
    state.withLock { $0.ballot = ballot }
    return nil
  }

  /// The decision, if there is one.
  @inlinable
  var decision: Decision? { state.withLock { $0.decision } }

  /// Waits for the decision.
  ///
  /// For one caller.
  @inlinable
  nonisolated(nonsending) func waitForDecision() async -> Decision {
    await withCheckedContinuation { continuation in
      let decision = state.withLock { state in
        if state.decision == nil { state.caller = continuation }
        return state.decision
      }
      if let decision { continuation.resume(returning: decision) }
    }
  }

  /// Counts an answer; if it decides, stops the fan-out and lets the caller go on.
  @inlinable
  func take(_ answer: Event, from position: Int, in fanOut: FanOut) {
    take(.answer(answer, position: position), in: fanOut)
  }

  /// Counts those who have not answered as absent, which decides.
  @inlinable
  func expire(in fanOut: FanOut) {
    take(.deadline, in: fanOut)
  }

  @inlinable
  func take(_ input: Input, in fanOut: FanOut) {
    let taken = state.withLock { state -> Ballot<C, Failure>? in
      guard let ballot = state.ballot else {
        if state.decision == nil { state.queue.append(input) }
        return nil
      }
      state.ballot = nil
      return ballot
    }
    guard var ballot = taken else { return }
    var next: Input? = input
    while let input = next {
      if let decision = count(input, in: &ballot) {
        fanOut.halt()
        decide(decision)
        // After the caller was let go: cancelling runs the handlers' own cancellation handlers.
        if !ballot.isComplete { fanOut.cancel() }
        return
      }
      next = putBack(ballot)
    }
  }

  @inlinable
  func count(_ input: Input, in ballot: inout Ballot<C, Failure>) -> Decision? {
    switch input {
    case .answer(let answer, let position): ballot.count(answer, from: position)
    case .deadline: ballot.expire(counting: absence)
    }
  }

  /// Puts the ballot back, unless more has come.
  @inlinable
  func putBack(_ ballot: Ballot<C, Failure>) -> Input? {
    state.withLock { state in
      if let next = state.queue.popFirst() { return next }
      state.ballot = ballot
      return nil
    }
  }

  @inlinable
  func decide(_ decision: Decision) {
    // What came too late is let go after the lock is released.
    let (caller, late) = state.withLock { state in
      state.decision = decision
      defer { state.caller = nil }
      return (state.caller, state.queue.takeAll())
    }
    withExtendedLifetime(late) {}
    caller?.resume(returning: decision)
  }
}

public import Synchronization

/// Carries one ballot from many workers to one caller.
///
/// The combiner is the user's code, so it never runs under a lock: whoever brings an answer while nobody
/// counts has the ballot until it has counted; what comes meanwhile queues up and is counted by the one
/// who has the ballot.
///
/// `@unchecked Sendable`: `ballot` is touched before the poll is shared, and after that only by the one
/// who has moved `turn` from `free` to `counting`, until it moves it back.
@usableFromInline
final class Poll<C: Combiner, Failure: Error>: @unchecked Sendable {
  @usableFromInline
  typealias Event = Answer<C.Response, Failure>
  @usableFromInline
  typealias Decision = Result<C.Outcome, Failure>

  @usableFromInline
  enum Input: Sendable {
    case answer(Event, position: Int)
    case deadline
  }

  /// What those share who bring answers and the one who waits.
  @usableFromInline
  struct Desk: Sendable {
    /// What came while somebody else counted.
    @usableFromInline
    var queue = Queue<Input>()
    @usableFromInline
    var decision: Decision?
    @usableFromInline
    var caller: CheckedContinuation<Decision, Never>?

    @inlinable
    init() {}
  }

  @usableFromInline
  var ballot: Ballot<C, Failure>
  @usableFromInline
  let turn = Atomic<UInt8>(PollTurn.free)
  @usableFromInline
  let desk = Lock(Desk())
  /// What to count at the deadline for those who have not answered.
  @usableFromInline
  let absence: @Sendable (Int) -> Event

  @inlinable
  init(
    _ ballot: Ballot<C, Failure>, absence: @escaping @Sendable (Int) -> Event = { _ in .absence }
  ) {
    self.ballot = ballot
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
    if let decision = ballot.begin() { return decision }
    return isExpired ? ballot.expire(counting: absence) : nil
  }

  /// The decision, if there is one.
  @inlinable
  var decision: Decision? { desk.withLock { $0.decision } }

  /// Waits for the decision.
  ///
  /// For one caller.
  @inlinable
  nonisolated(nonsending) func waitForDecision() async -> Decision {
    await withCheckedContinuation { continuation in
      let decision = desk.withLock { desk in
        if desk.decision == nil { desk.caller = continuation }
        return desk.decision
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
    if turn.exchange(from: PollTurn.free, to: PollTurn.counting) {
      conclude(count(input), in: fanOut)
    } else if leave(input) {
      conclude(countQueue(), in: fanOut)
    }
  }

  /// Leaves an input to whoever counts.
  ///
  /// - Returns: whether it is now the caller who has the ballot, and the queue to count.
  @inlinable
  func leave(_ input: Input) -> Bool {
    let isOver = desk.withLock { desk in
      if desk.decision == nil { desk.queue.append(input) }
      return desk.decision != nil
    }
    while !isOver, turn.load(ordering: .relaxed) != PollTurn.queued {
      if turn.exchange(from: PollTurn.counting, to: PollTurn.queued) { return false }
      if turn.exchange(from: PollTurn.free, to: PollTurn.counting) { return true }
    }
    return false
  }

  /// Puts the ballot back, having counted what was left meanwhile, or tells the decision.
  @inlinable
  func conclude(_ decision: Decision?, in fanOut: FanOut) {
    var decision = decision
    while decision == nil {
      if turn.exchange(from: PollTurn.counting, to: PollTurn.free) { return }
      turn.store(PollTurn.counting, ordering: .relaxed)
      decision = countQueue()
    }
    guard let decision else { return }
    fanOut.halt()
    // Read first: the caller may be done with everything as soon as it goes on.
    let isComplete = ballot.isComplete
    decide(decision)
    // After the caller was let go: cancelling runs the handlers' own cancellation handlers.
    if !isComplete { fanOut.cancel() }
  }

  @inlinable
  func count(_ input: Input) -> Decision? {
    switch input {
    case .answer(let answer, let position): ballot.count(answer, from: position)
    case .deadline: ballot.expire(counting: absence)
    }
  }

  /// Counts what has come meanwhile, up to a decision.
  @inlinable
  func countQueue() -> Decision? {
    while let input = desk.withLock({ $0.queue.popFirst() }) {
      if let decision = count(input) { return decision }
    }
    return nil
  }

  @inlinable
  func decide(_ decision: Decision) {
    // What came too late is let go after the lock is released.
    let (caller, late) = desk.withLock { desk in
      desk.decision = decision
      defer { desk.caller = nil }
      return (desk.caller, desk.queue.takeAll())
    }
    withExtendedLifetime(late) {}
    caller?.resume(returning: decision)
  }
}

/// Who has a poll's ballot.
@usableFromInline
enum PollTurn {
  /// Nobody, and nothing is queued.
  @inlinable
  static var free: UInt8 { 0 }
  /// Somebody, for good if that is who decided.
  @inlinable
  static var counting: UInt8 { 1 }
  /// Somebody, who has to look into the queue.
  @inlinable
  static var queued: UInt8 { 2 }
}

extension Atomic<UInt8> {
  /// Moves from one value to another, if it is that.
  @inlinable
  @inline(__always)
  func exchange(from expected: UInt8, to desired: UInt8) -> Bool {
    compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing)
      .exchanged
  }
}

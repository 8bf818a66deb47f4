public import Synchronization

/// Carries one ballot from many workers to one caller.
///
/// The combiner is user code, so it never runs under a lock. A worker that has an answer takes the ballot,
/// if no other worker has it, and counts. Answers that come meanwhile are queued, and the worker that has
/// the ballot counts them.
///
/// `@unchecked Sendable`: `ballot` and `outcome` are accessed before the poll is shared, and after that
/// only by the worker that has moved `phase` from `free` to `counting`, until it moves it back. The worker
/// that decides never moves it back. The caller takes `outcome` after it has read `isDecided` in the round's
/// state, under the lock.
///
/// It is generic over the ballot as a whole, and nothing generic is under the round's lock. Otherwise the end of each
/// poll would look up types at run time, for a fifth of what a small vote costs.
@_fixed_layout
@usableFromInline
final class Poll<Count: Countable>: @unchecked Sendable {
  @usableFromInline
  typealias Event = Count.Event
  @usableFromInline
  typealias Decision = Count.Decision

  @usableFromInline
  enum Input: Sendable {
    case answer(Event, position: Int)
    /// The deadline, with what to count for a position that has not answered.
    case deadline(counting: @Sendable (Int) -> Event)
  }

  @usableFromInline
  @exclusivity(unchecked)
  var ballot: Count
  /// The decision: empty until there is one, and again when the caller has taken it.
  ///
  /// Written by the worker that has the ballot, before it sets `isDecided`; taken by the caller after that. It is
  /// an array: of an optional the runtime would look up the type when the poll is released.
  @usableFromInline
  @exclusivity(unchecked)
  var outcome: [Decision] = []
  @usableFromInline
  let phase = Atomic<UInt8>(PollPhase.free)

  @inlinable
  init(_ ballot: Count) {
    self.ballot = ballot
  }

  @inlinable
  deinit {}

  /// Starts the count, before the poll is shared.
  ///
  /// - Returns: whether that decides, so that nobody need be asked.
  @inlinable
  @inline(never)
  func isDecidedAtOnce() -> Bool {
    guard let decision = ballot.begin() else { return false }
    outcome = [decision]
    return true
  }

  /// Takes the decision, so that handlers that still run and keep the poll do not keep it.
  ///
  /// For the caller, once the round is decided.
  @inlinable
  @inline(never)
  static func takeDecision(of poll: Poll?) -> Decision {
    guard let decision = poll?.outcome.popLast() else {
      fatalError("Delegation: a poll went on undecided")
    }
    return decision
  }

  /// Counts an answer; if it decides, ends the round and resumes the caller.
  ///
  /// - Parameters:
  ///   - answer: the answer.
  ///   - position: the subscriber's position.
  ///   - node: the subscriber's subscription.
  ///   - worker: the worker that asked.
  ///   - round: the question's round.
  @inlinable
  @inline(never)
  func take(
    _ answer: Event, from position: Int, of node: SubscriptionNode, by worker: Worker,
    in round: Round
  ) {
    if round.hasDeadline { round.expireIfDue() }
    if phase.exchange(from: PollPhase.free, to: PollPhase.counting) {
      round.end(node, by: worker)
      conclude(count(.answer(answer, position: position)), by: worker, in: round)
    } else if round.enqueue(
      node, by: worker, for: phase, { self.count(.answer(answer, position: position)) })
    {
      conclude(countQueue(of: round), by: worker, in: round)
    }
  }

  /// Counts the subscribers that have not answered, which decides.
  ///
  /// - Parameters:
  ///   - round: the question's round.
  ///   - absence: what to count, by position.
  @inlinable
  @inline(never)
  func expire(in round: Round, counting absence: @escaping @Sendable (Int) -> Event) {
    if phase.exchange(from: PollPhase.free, to: PollPhase.counting) {
      conclude(count(.deadline(counting: absence)), by: nil, in: round)
    } else if round.enqueue(for: phase, { self.count(.deadline(counting: absence)) }) {
      conclude(countQueue(of: round), by: nil, in: round)
    }
  }

  /// Gives the ballot back, if nothing is queued, or publishes the decision.
  ///
  /// - Parameters:
  ///   - isDecided: whether what was counted has decided.
  ///   - worker: the worker that counts; `nil` at the deadline.
  ///   - round: the question's round.
  @inlinable
  func conclude(_ isDecided: Bool, by worker: Worker?, in round: Round) {
    var isDecided = isDecided
    while !isDecided {
      if phase.exchange(from: PollPhase.counting, to: PollPhase.free) { return }
      phase.store(PollPhase.counting, ordering: .relaxed)
      isDecided = countQueue(of: round)
    }
    // Read first: after `end` the caller may already have gone on.
    let isComplete = ballot.isComplete
    ballot.clear()
    round.end(cancelling: !isComplete, except: worker)
  }

  /// Counts one input.
  ///
  /// - Returns: whether that decides.
  @inlinable
  func count(_ input: Input) -> Bool {
    let decision: Decision?
    switch input {
    case .answer(let answer, let position): decision = ballot.count(answer, from: position)
    case .deadline(let absence): decision = ballot.expire(counting: absence)
    }
    guard let decision else { return false }
    outcome = [decision]
    return true
  }

  /// Counts what was queued, up to a decision.
  ///
  /// - Returns: whether there is one.
  @inlinable
  func countQueue(of round: Round) -> Bool {
    while let item = round.nextItem() {
      if item.count() { return true }
    }
    return false
  }
}

/// What a round has for its poll, without types: the queue, and the caller that waits.
extension Round {
  /// Queues an answer for the worker that has the ballot.
  ///
  /// - Returns: as ``enqueue(for:ending:as:_:)``.
  @usableFromInline
  func enqueue(
    _ node: SubscriptionNode, by worker: Worker, for phase: borrowing Atomic<UInt8>,
    _ count: @escaping @Sendable () -> Bool
  ) -> Bool {
    worker.end(watchedBy: slowWatch)
    let (end, failure) = worker.takeEnd(isCancelled: isCancelled)
    return enqueue(for: phase, ending: node, as: end, telling: failure, count)
  }

  /// Queues an input for the worker that has the ballot.
  ///
  /// - Parameters:
  ///   - phase: whether a worker has the ballot.
  ///   - node: the subscription whose call it ends; `nil` for the deadline.
  ///   - end: how the call ends if the answer is counted.
  ///   - failure: what the handler threw, if that is to be told.
  ///   - count: counts the input.
  /// - Returns: whether the current worker has the ballot now, and has to count the queue.
  @usableFromInline
  func enqueue(
    for phase: borrowing Atomic<UInt8>, ending node: SubscriptionNode? = nil,
    as end: CallEnd = .answered, telling failure: CallFailure? = nil,
    _ count: @escaping @Sendable () -> Bool
  ) -> Bool {
    let isOver = state.withLock { state in
      if !state.poll.isDecided {
        state.poll.queue.append(
          PollState.Item(node: node, end: end, failure: failure, count: count))
      }
      return state.poll.isDecided
    }
    if isOver, let node { endUncounted(node, as: end, telling: failure) }
    while !isOver, phase.load(ordering: .relaxed) != PollPhase.queued {
      if phase.exchange(from: PollPhase.counting, to: PollPhase.queued) { return false }
      if phase.exchange(from: PollPhase.free, to: PollPhase.counting) { return true }
    }
    return false
  }

  /// Takes the next input out of the queue, to be counted, and counts off the call that it ends.
  @usableFromInline
  func nextItem() -> PollState.Item? {
    let item = state.withLock { $0.poll.queue.popFirst() }
    if let item, let node = item.node {
      node.endCall(as: item.end)
      if let failure = item.failure { node.report(failure, in: call) }
    }
    return item
  }

  /// Waits until the poll is decided, or for the deadline, if that has not been waited for before.
  ///
  /// For one caller.
  func waitForDecision() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        defer { state.poll.isDue = false }
        if state.poll.isDecided || state.poll.isDue { return true }
        state.poll.caller = PollState.Caller(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Resumes the caller at the deadline.
  func noteDeadline() {
    let waiting = state.withLock { state in
      let waiting = state.poll.caller.take()
      state.poll.isDue = waiting == nil
      return waiting
    }
    waiting?.continuation.resume()
  }

  /// Whether the poll is decided.
  var isDecided: Bool { state.withLock { $0.poll.isDecided } }
}

/// The state that a poll's workers and its caller share under a lock.
@frozen
@usableFromInline
struct PollState: Sendable {
  /// A queued input: a closure that counts it and returns whether it decides.
  @frozen
  @usableFromInline
  struct Item: Sendable {
    /// The subscription whose call it ends; `nil` for the deadline.
    @usableFromInline
    let node: SubscriptionNode?
    /// How that call ends if the answer is counted.
    @usableFromInline
    let end: CallEnd
    /// What its handler threw, if that is to be told when the call has been counted off.
    @usableFromInline
    let failure: CallFailure?
    @usableFromInline
    let count: @Sendable () -> Bool
  }

  /// The inputs that came while another worker counted.
  @usableFromInline
  var queue = Queue<Item>()
  @usableFromInline
  var isDecided = false
  /// Whether the deadline has come before the caller has waited for it.
  @usableFromInline
  var isDue = false
  @usableFromInline
  var caller: Caller?

  /// The continuation of the waiting caller.
  ///
  /// It is in an object: the runtime would look up the type of an optional continuation at each access.
  @_fixed_layout
  @usableFromInline
  final class Caller: Sendable {
    @usableFromInline
    let continuation: CheckedContinuation<Void, Never>

    @inlinable
    init(_ continuation: CheckedContinuation<Void, Never>) {
      self.continuation = continuation
    }

    @inlinable
    deinit {}
  }

  @inlinable
  init() {}
}

extension Queue<PollState.Item> {
  /// How the calls end whose answers are queued, without the answers.
  var endings: [(node: SubscriptionNode, end: CallEnd, failure: CallFailure?)] {
    isEmpty ? [] : all.compactMap { item in item.node.map { ($0, item.end, item.failure) } }
  }
}

/// Whether a worker has a poll's ballot.
@usableFromInline
enum PollPhase {
  /// No worker has it, and nothing is queued.
  @inlinable
  static var free: UInt8 { 0 }
  /// A worker has it; for good, once it has decided.
  @inlinable
  static var counting: UInt8 { 1 }
  /// A worker has it, and has to count the queue.
  @inlinable
  static var queued: UInt8 { 2 }
}

extension Atomic<UInt8> {
  /// Stores a value, if the current one is the expected one.
  @inlinable
  @inline(__always)
  func exchange(from expected: UInt8, to desired: UInt8) -> Bool {
    compareExchange(expected: expected, desired: desired, ordering: .acquiringAndReleasing)
      .exchanged
  }
}

internal import Synchronization

/// Carries one ballot from many workers to one caller.
///
/// The combiner is user code, so it never runs under a lock. A worker that has an answer takes the ballot,
/// if no other worker has it, and counts. Answers that come meanwhile are queued, and the worker that has
/// the ballot counts them.
///
/// `@unchecked Sendable`: `ballot` and `outcome` are accessed before the poll is shared, and after that
/// only by the worker that has the ballot, which has set the round's `isCounting`. The worker that decides never
/// clears it. The caller takes `outcome` after it has read `isDecided` in the round's state, under the lock.
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

  /// Counts an answer, and claims the worker's next subscription; if it decides, ends the round instead, and resumes
  /// the caller.
  ///
  /// - Parameters:
  ///   - answer: the answer.
  ///   - claim: the subscription that it is from.
  ///   - worker: the worker that asked.
  ///   - round: the question's round.
  /// - Returns: the next subscription; `nil` if there is none.
  @inlinable
  @inline(never)
  func take(
    _ answer: Event, from claim: Round.Claim, by worker: Worker, in round: Round
  ) -> Round.Claim? {
    let position = claim.position
    var isDecided = false
    if round.takeBallot(ending: claim.node, by: worker) {
      isDecided = count(.answer(answer, position: position))
    } else if !round.enqueue(
      ending: claim, by: worker, { self.count(.answer(answer, position: position)) })
    {
      return round.goOn(worker, withBallot: false).next
    }
    return conclude(isDecided, by: worker, in: round)
  }

  /// Counts the subscribers that have not answered, which decides.
  ///
  /// - Parameters:
  ///   - round: the question's round.
  ///   - absence: what to count, by position.
  @inlinable
  @inline(never)
  func expire(in round: Round, counting absence: @escaping @Sendable (Int) -> Event) {
    if round.enqueue({ self.count(.deadline(counting: absence)) }) {
      _ = conclude(false, by: nil, in: round)
    }
  }

  /// Counts what is queued, then gives the ballot back or publishes the decision.
  ///
  /// - Parameters:
  ///   - isDecided: whether what was counted has decided.
  ///   - worker: the worker that counts; `nil` at the deadline.
  ///   - round: the question's round.
  /// - Returns: the worker's next subscription; `nil` if there is none.
  @inlinable
  func conclude(_ isDecided: Bool, by worker: Worker?, in round: Round) -> Round.Claim? {
    var isDecided = isDecided
    while !isDecided {
      let (mustCount, next) = round.goOn(worker, withBallot: true)
      if !mustCount { return next }
      isDecided = round.countNext()
    }
    // Read first: after `end` the caller may already have gone on.
    let isComplete = ballot.isComplete
    ballot.clear()
    round.end(cancelling: !isComplete, except: worker)
    return nil
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
}

/// What a round has for its poll, without types: the ballot's turn, the queue, and the caller that waits.
extension Round {
  /// Takes the ballot if no other worker has it, and counts off the call that has ended.
  ///
  /// It is counted off before its answer is counted. So what the ballot counts was answered in time, what it finds
  /// outstanding at the deadline was late, and what it never counts was abandoned.
  @usableFromInline
  func takeBallot(ending node: SubscriptionNode, by worker: Worker) -> Bool {
    if hasDeadline { expireIfDue() }
    guard takeBallot() else { return false }
    worker.end(node, in: call, watchedBy: slowWatch, isCancelled: isCancelled)
    return true
  }

  /// Takes the ballot if no other worker has it.
  ///
  /// Who has it gives it back under the lock, and only if nothing is queued. Who queues something does so under the lock
  /// as well, and then tries to take it: one of the two counts what is queued.
  @inline(__always)
  func takeBallot() -> Bool {
    isCounting.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
  }

  /// Counts those that have not answered, if the deadline has come: its alarm may have to wait for a thread.
  ///
  /// Called before an answer is counted, so that one that comes after the deadline is late.
  @inline(never)
  private func expireIfDue() {
    guard let expiry = state.withLock({ $0.held }).expiry, expiry.deadline.hasCome else { return }
    expiry.count(in: self)
  }

  /// Queues an input for the worker that has the ballot.
  ///
  /// - Parameters:
  ///   - claim: the subscription whose call it ends; `nil` for the deadline.
  ///   - worker: the worker that asked it.
  ///   - count: counts the input.
  /// - Returns: whether the current worker has the ballot now, and has to count the queue.
  @usableFromInline
  func enqueue(
    ending claim: Claim? = nil, by worker: Worker? = nil,
    _ count: @escaping @Sendable () -> Bool
  ) -> Bool {
    worker?.end(watchedBy: slowWatch)
    let (end, failure) = worker?.takeEnd(isCancelled: isCancelled) ?? (.answered, nil)
    let item = PollState.Item(claim: claim, end: end, failure: failure, count: count)
    let (isOver, hasBallot) = state.withLock { state in
      if state.poll.isDecided { return (true, false) }
      state.poll.queue.append(item)
      return (false, takeBallot())
    }
    if isOver, let claim { endUncounted(claim, as: item.end, telling: item.failure) }
    return hasBallot
  }

  /// Counts the first input of the queue, for the worker that has the ballot, and counts off the call that it ends.
  ///
  /// - Returns: whether that decides.
  @usableFromInline
  func countNext() -> Bool {
    guard let item = state.withLock({ $0.poll.queue.popFirst() }) else { return false }
    if let node = item.claim?.node {
      node.endCall(as: item.end)
      if let failure = item.failure { node.report(failure, in: call) }
    }
    return item.count()
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
struct PollState: Sendable {
  /// A queued input: a closure that counts it and returns whether it decides.
  struct Item: Sendable {
    /// The subscription whose call it ends; `nil` for the deadline.
    let claim: Round.Claim?
    /// How that call ends if the answer is counted.
    let end: CallEnd
    /// What its handler threw, if that is to be told when the call has been counted off.
    let failure: CallFailure?
    let count: @Sendable () -> Bool
  }

  /// The inputs that came while another worker counted.
  var queue = Queue<Item>()
  var isDecided = false
  /// Whether the deadline has come before the caller has waited for it.
  var isDue = false
  var caller: Caller?

  /// The continuation of the waiting caller.
  ///
  /// It is in an object: the runtime would look up the type of an optional continuation at each access.
  final class Caller: Sendable {
    let continuation: CheckedContinuation<Void, Never>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
  }
}

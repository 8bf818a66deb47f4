internal import Synchronization

/// What a round does for its poll, without types: who has the ballot, the answers that are queued for that one, the
/// decision, and the caller that waits for it.
extension Round {
  /// Takes the ballot if no other worker has it, and counts off the call that has ended.
  ///
  /// It is counted off before its answer is counted. So what the ballot counts was answered in time, what it finds
  /// outstanding at the deadline was late, and what it never counts was abandoned.
  @usableFromInline
  func takeBallot(ending node: SubscriptionNode, by worker: Worker) -> Bool {
    if hasDeadline { expireIfDue() }
    guard takeBallot() else { return false }
    worker.end(node, in: call, isCancelled: isCancelled)
    return true
  }

  /// Takes the ballot if no other worker has it.
  ///
  /// The worker that has it gives it back under the lock, and only if nothing is queued. One that queues something does
  /// so under the lock as well, and tries to take it in the same section: one of the two counts what is queued.
  @inline(__always)
  func takeBallot() -> Bool {
    isBallotTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged
  }

  /// Gives the ballot back, unless something is queued.
  ///
  /// Called under the lock.
  ///
  /// - Returns: whether it did; if not, the worker has to count what is queued.
  @inline(__always)
  func giveBackBallot(_ poll: borrowing PollState) -> Bool {
    guard poll.queue.isEmpty else { return false }
    isBallotTaken.store(false, ordering: .releasing)
    return true
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
    worker?.end()
    let (end, failure) = worker?.takeEnd(isCancelled: isCancelled) ?? (.answered, nil)
    let item = PollState.Item(claim: claim, end: end, failure: failure, count: count)
    let (isOver, hasBallot) = state.withLock { state in
      if state.isDecided { return (true, false) }
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

  /// Claims a worker's next subscription, and gives the ballot back in the same section, if the worker has that.
  ///
  /// - Parameters:
  ///   - worker: the worker; `nil` at the deadline.
  ///   - hasBallot: whether it has the ballot.
  /// - Returns: whether it has the ballot still, and has to count what is queued; if not, the next one, if any.
  @usableFromInline
  func claimNext(
    for worker: Worker?, givingBack hasBallot: Bool
  ) -> (mustCount: Bool, next: Claim?) {
    let isSingle = worker?.isSingle ?? true
    let (mustCount, next) = state.withLock { state -> (Bool, Claim?) in
      if hasBallot, !giveBackBallot(state.poll) { return (true, nil) }
      return (false, isSingle ? nil : state.claim())
    }
    if let next, next.isLast { state.releaseList() }
    return (mustCount, next)
  }

  /// Lets no further handler begin, releases the question, and resumes the caller: the poll is decided.
  ///
  /// - Parameters:
  ///   - isCancelling: whether handlers are running that are to be cancelled.
  ///   - worker: the worker that has decided, whose handler has returned; `nil` at the deadline, for the caller.
  @usableFromInline
  func end(cancelling isCancelling: Bool, except worker: Worker?) {
    let (rest, held, hasLate, waiting, tasks) = state.withLock { state in
      var held = Held()
      swap(&held, &state.held)
      // Before the caller goes on: a handler that begins after that is to find itself cancelled.
      let tasks =
        isCancelling ? beginCancelling(&state, except: worker?.place) : []
      return (
        state.cursor.halt(), held, !state.poll.queue.isEmpty, state.poll.waiting.take(), tasks
      )
    }
    if hasLate { countOffLate() }
    // The caller does not go on before what the question has captured is released.
    withExtendedLifetime((rest, consume held)) {}
    caller.clear()
    waiting?.continuation.resume()
    // Not in place: that may be the caller's, who is not to wait for the cancellation handlers.
    cancelApart(tasks)
    guard hasLate else { return }
    // Last, for a `deinit` of the user's may block: neither the caller nor the others wait for that.
    if worker != nil { return releaseLate() }
    Task.startDetached(on: executor) { self.releaseLate() }
  }

  /// Counts off the calls whose answers are queued and come too late to be counted; no more come.
  @inline(never)
  private func countOffLate() {
    for item in state.withLock({ $0.poll.queue.all }) {
      if let claim = item.claim { endUncounted(claim, as: item.end, telling: item.failure) }
    }
  }

  /// Releases the answers that came too late.
  private func releaseLate() {
    let late = state.withLock { $0.poll.queue.takeAll() }
    withExtendedLifetime(late) {}
  }

  /// Counts off a call whose answer is not counted any more, and tells what its handler threw, unless it was late.
  @inline(never)
  func endUncounted(_ claim: Claim, as end: CallEnd, telling failure: CallFailure? = nil) {
    let isLate = state.withLock { $0.isExpired }
    claim.node.endCall(as: isLate ? .late : end == .answered ? .abandoned : end)
    if let failure, !isLate { claim.node.report(failure, in: call) }
  }

  /// Counts those that have not answered, if the deadline has come: its alarm may have to wait for a thread.
  ///
  /// Called before an answer is counted, so that one that comes after the deadline is late.
  @inline(never)
  private func expireIfDue() {
    guard let expiry, expiry.deadline.hasCome else { return }
    expiry.count(in: self)
  }

  /// Notes that the deadline has come: no handler begins any more, and those that end are late.
  @usableFromInline
  func expire() {
    state.withLock { state in
      state.isExpired = true
      state.cursor.expire()
    }
  }

  /// Waits until the poll is decided, or for the deadline, if that has not been waited for before.
  ///
  /// For one caller.
  func waitForDecision() async {
    await withCheckedContinuation { continuation in
      let isOver = state.withLock { state in
        defer { state.poll.isDue = false }
        if state.isDecided || state.poll.isDue { return true }
        state.poll.waiting = PollState.Waiting(continuation)
        return false
      }
      if isOver { continuation.resume() }
    }
  }

  /// Resumes the caller at the deadline; it counts those that have not answered.
  func noteDeadline() {
    let waiting = state.withLock { state in
      let waiting = state.poll.waiting.take()
      state.poll.isDue = waiting == nil
      return waiting
    }
    waiting?.continuation.resume()
  }

  /// Whether the poll is decided.
  var isDecided: Bool { state.withLock { $0.isDecided } }
}

/// The part of a round's state that is about its poll, under the round's lock.
struct PollState: Sendable {
  /// A queued answer, or the deadline.
  struct Item: Sendable {
    /// The subscription whose call it ends; `nil` for the deadline.
    let claim: Round.Claim?
    /// How that call ends if the answer is counted.
    let end: CallEnd
    /// What its handler threw, if that is to be told when the call has been counted off.
    let failure: CallFailure?
    /// Counts it, and returns whether it decides.
    let count: @Sendable () -> Bool
  }

  /// The inputs that came while another worker counted.
  var queue = Queue<Item>()
  /// Whether the deadline has come before the caller has waited for it.
  var isDue = false
  var waiting: Waiting?

  /// The continuation of the waiting caller.
  ///
  /// It is in an object: the runtime would look up the type of an optional continuation at each access.
  final class Waiting: Sendable {
    let continuation: CheckedContinuation<Void, Never>

    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
  }
}

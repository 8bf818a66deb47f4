public import Synchronization

/// Carries one ballot from many workers to one caller.
///
/// The combiner is user code, so it never runs under a lock. A worker that has an answer takes the ballot,
/// if no other worker has it, and counts. Answers that come meanwhile are queued, and the worker that has
/// the ballot counts them.
///
/// `@unchecked Sendable`: `ballot` and `outcome` are accessed before the poll is shared, and after that
/// only by the worker that has moved `phase` from `free` to `counting`, until it moves it back. The worker
/// that decides never moves it back. The caller takes `outcome` after it has read `isDecided` in `state`,
/// under the lock.
///
/// It is generic over the ballot as a whole, and its lock has no generic state. Otherwise the end of each
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
  /// The result of the latest count: `nil` until one decides, and again when the caller has taken it.
  ///
  /// Written by the worker that has the ballot, for the last time before it sets `isDecided`; taken by the
  /// caller after that.
  @usableFromInline
  @exclusivity(unchecked)
  var outcome: Decision?
  @usableFromInline
  let phase = Atomic<UInt8>(PollPhase.free)
  @usableFromInline
  let state = Lock(PollState())

  @inlinable
  init(_ ballot: Count) {
    self.ballot = ballot
  }

  @inlinable
  deinit {}

  /// Starts the count, before the poll is shared.
  ///
  /// - Returns: the decision, if nobody need be asked.
  @inlinable
  func begin() -> Decision? { ballot.begin() }

  /// Ends the count before anybody is asked, because the deadline is past.
  ///
  /// - Parameter absence: what to count, by position.
  /// - Returns: the decision.
  @inlinable
  func expireUnasked(counting absence: (Int) -> Event) -> Decision? {
    ballot.expire(counting: absence)
  }

  /// Takes the decision, if there is one, so that handlers that still run and keep the poll do not keep it.
  ///
  /// For one caller.
  @inlinable
  func takeDecision() -> Decision? { state.withLock { $0.isDecided } ? outcome.take() : nil }

  /// Waits for the decision, and takes it.
  ///
  /// For one caller.
  @inlinable
  nonisolated(nonsending) func waitForDecision() async -> Decision {
    await withCheckedContinuation { continuation in
      let isDecided = state.withLock { state in
        if !state.isDecided { state.caller = PollState.Caller(continuation) }
        return state.isDecided
      }
      if isDecided { continuation.resume() }
    }
    guard let outcome = outcome.take() else { fatalError("Delegation: a poll went on undecided") }
    return outcome
  }

  /// Counts an answer; if it decides, halts the fan-out and resumes the caller.
  @inlinable
  func take(_ answer: Event, from position: Int, in fanOut: FanOut) {
    take(.answer(answer, position: position), in: fanOut)
  }

  /// Counts the subscribers that have not answered as absent, which decides.
  ///
  /// - Parameters:
  ///   - fanOut: the question's fan-out.
  ///   - absence: what to count, by position.
  @inlinable
  func expire(in fanOut: FanOut, counting absence: @escaping @Sendable (Int) -> Event) {
    take(.deadline(counting: absence), in: fanOut)
  }

  @inlinable
  func take(_ input: Input, in fanOut: FanOut) {
    if phase.exchange(from: PollPhase.free, to: PollPhase.counting) {
      conclude(count(input), in: fanOut)
    } else if enqueue(input) {
      conclude(countQueue(), in: fanOut)
    }
  }

  /// Queues an input for the worker that has the ballot.
  ///
  /// - Returns: whether the current worker has the ballot now, and has to count the queue.
  @inlinable
  func enqueue(_ input: Input) -> Bool {
    let isOver = state.withLock { state in
      if !state.isDecided { state.queue.append(PollState.Item { self.count(input) }) }
      return state.isDecided
    }
    while !isOver, phase.load(ordering: .relaxed) != PollPhase.queued {
      if phase.exchange(from: PollPhase.counting, to: PollPhase.queued) { return false }
      if phase.exchange(from: PollPhase.free, to: PollPhase.counting) { return true }
    }
    return false
  }

  /// Counts what was queued and gives the ballot back, or publishes the decision.
  ///
  /// - Parameters:
  ///   - isDecided: whether what was counted has decided.
  ///   - fanOut: the question's fan-out.
  @inlinable
  func conclude(_ isDecided: Bool, in fanOut: FanOut) {
    var isDecided = isDecided
    while !isDecided {
      if phase.exchange(from: PollPhase.counting, to: PollPhase.free) { return }
      phase.store(PollPhase.counting, ordering: .relaxed)
      isDecided = countQueue()
    }
    fanOut.halt()
    // Read first: after `publish()` the caller may already have gone on.
    let isComplete = ballot.isComplete
    ballot.clear()
    let late = publish()
    // Not in place: that may be the caller's, who is not to wait for the cancellation handlers.
    if !isComplete { fanOut.cancelOthers() }
    // Last, for a `deinit` of the user's may block: neither the caller nor the others wait for that.
    withExtendedLifetime(late) {}
  }

  /// Counts one input.
  ///
  /// - Returns: whether that decides.
  @inlinable
  func count(_ input: Input) -> Bool {
    switch input {
    case .answer(let answer, let position): outcome = ballot.count(answer, from: position)
    case .deadline(let absence): outcome = ballot.expire(counting: absence)
    }
    return outcome != nil
  }

  /// Counts what was queued, up to a decision.
  ///
  /// - Returns: whether there is one.
  @inlinable
  func countQueue() -> Bool {
    while let item = state.withLock({ $0.queue.popFirst() }) {
      if item.count() { return true }
    }
    return false
  }

  /// Resumes the caller: the poll is decided.
  ///
  /// - Returns: the inputs that came too late, to be released.
  @inlinable
  func publish() -> [PollState.Item] {
    let (caller, late) = state.withLock { state in
      state.isDecided = true
      defer { state.caller = nil }
      return (state.caller, state.queue.takeAll())
    }
    caller?.continuation.resume()
    return late
  }
}

extension FanOut {
  /// Asks a claimed subscription and those claimed after it, in the worker's task.
  ///
  /// This is the part of a worker that runs for every subscriber. It is inlined into the question together
  /// with its closures, because each level of asynchronous calls costs as much as the weak load itself.
  ///
  /// - Parameters:
  ///   - first: the subscription to begin with.
  ///   - worker: the worker.
  ///   - isSingle: whether to ask only the first.
  ///   - poll: counts the answers, each when the handler has returned.
  ///   - ask: asks one subscriber.
  /// - Returns: a claimed subscription that has an executor of its own; `nil` when done.
  @inlinable
  @inline(__always)
  nonisolated(nonsending) func run<Count>(
    from first: Claim, as worker: Worker, only isSingle: Bool, to poll: Poll<Count>,
    asking ask: nonisolated(nonsending) (SubscriptionNode) async -> Count.Event
  ) async -> Claim? {
    var claim = first
    while true {
      if runningTasks.isCancelled { cancelCurrentTask() }
      let answer = await worker.ask(
        claim.node, in: call, watchedBy: slowWatch, absence: Count.absence, ask)
      poll.take(answer, from: claim.position, in: self)
      guard !isSingle, !isCancelledByHandler(), let next = self.claim() else { return nil }
      if next.node.hasExecutor { return next }
      claim = next
    }
  }
}

/// The state that a poll's workers and its caller share under a lock.
@frozen
@usableFromInline
struct PollState: Sendable {
  /// A queued input: a closure that counts it and returns whether it decides.
  @frozen
  @usableFromInline
  struct Item: Sendable {
    @usableFromInline
    let count: @Sendable () -> Bool

    @inlinable
    init(count: @escaping @Sendable () -> Bool) {
      self.count = count
    }
  }

  /// The inputs that came while another worker counted.
  @usableFromInline
  var queue = Queue<Item>()
  @usableFromInline
  var isDecided = false
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

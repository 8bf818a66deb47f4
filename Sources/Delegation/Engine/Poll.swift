public import Synchronization

/// Carries one ballot from many workers to one caller.
///
/// The combiner is the user's code, so it never runs under a lock: a worker that brings an answer while
/// nobody counts has the ballot until it has counted; what comes meanwhile queues up and is counted by
/// the one who has the ballot.
///
/// `@unchecked Sendable`: `ballot` and `outcome` are touched before the poll is shared, and after that
/// only by the one who has moved `turn` from `free` to `counting`, until it moves it back; the one who
/// decides never does, and the caller takes `outcome` after the desk has told it so, under its lock.
///
/// Generic over the ballot itself, and with nothing under the lock that is generic: of other fields, the
/// end of each poll would look up the types at run time, for a fifth of what a small vote costs.
@usableFromInline
final class Poll<Count: Countable>: @unchecked Sendable {
  @usableFromInline
  typealias Event = Count.Event
  @usableFromInline
  typealias Decision = Count.Decision

  @usableFromInline
  enum Input: Sendable {
    case answer(Event, position: Int)
    /// The time is up, with what to count for those who have not answered.
    case deadline(counting: @Sendable (Int) -> Event)
  }

  @usableFromInline
  var ballot: Count
  /// What the latest count came to: `nil` until one decides, and again when the caller has taken it.
  ///
  /// Written by the one who has the ballot, for the last time before the desk says that the poll is
  /// decided; taken by the caller, when the desk has told it so.
  @usableFromInline
  var outcome: Decision?
  @usableFromInline
  let turn = Atomic<UInt8>(PollTurn.free)
  @usableFromInline
  let desk = Lock(PollDesk())

  @inlinable
  init(_ ballot: Count) {
    self.ballot = ballot
  }

  @inlinable
  deinit {}

  /// Starts the count, before anybody else knows of the poll.
  ///
  /// - Returns: the decision if nobody need be asked.
  @inlinable
  func open() -> Decision? { ballot.begin() }

  /// Ends the count before anybody is asked, for the deadline is past.
  ///
  /// - Parameter absence: what to count, by position.
  /// - Returns: the decision.
  @inlinable
  func close(counting absence: (Int) -> Event) -> Decision? { ballot.expire(counting: absence) }

  /// Takes the decision, if there is one: handlers that still run keep the poll, but not what came of it.
  ///
  /// For one caller.
  @inlinable
  func takeDecision() -> Decision? { desk.withLock { $0.isDecided } ? outcome.take() : nil }

  /// Waits for the decision, and takes it.
  ///
  /// For one caller.
  @inlinable
  nonisolated(nonsending) func waitForDecision() async -> Decision {
    await withCheckedContinuation { continuation in
      let isDecided = desk.withLock { desk in
        if !desk.isDecided { desk.caller = PollDesk.Caller(continuation) }
        return desk.isDecided
      }
      if isDecided { continuation.resume() }
    }
    guard let outcome = outcome.take() else { fatalError("Delegation: a poll went on undecided") }
    return outcome
  }

  /// Counts an answer; if it decides, stops the fan-out and lets the caller go on.
  @inlinable
  func take(_ answer: Event, from position: Int, in fanOut: FanOut) {
    take(.answer(answer, position: position), in: fanOut)
  }

  /// Counts those who have not answered as absent, which decides.
  ///
  /// - Parameters:
  ///   - fanOut: who has been asked.
  ///   - absence: what to count, by position.
  @inlinable
  func expire(in fanOut: FanOut, counting absence: @escaping @Sendable (Int) -> Event) {
    take(.deadline(counting: absence), in: fanOut)
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
      if !desk.isDecided { desk.queue.append(PollDesk.Item { self.count(input) }) }
      return desk.isDecided
    }
    while !isOver, turn.load(ordering: .relaxed) != PollTurn.queued {
      if turn.exchange(from: PollTurn.counting, to: PollTurn.queued) { return false }
      if turn.exchange(from: PollTurn.free, to: PollTurn.counting) { return true }
    }
    return false
  }

  /// Puts the ballot back, having counted what was left meanwhile, or tells the decision.
  ///
  /// - Parameters:
  ///   - isDecided: whether what was counted has decided.
  ///   - fanOut: whom the answers come from.
  @inlinable
  func conclude(_ isDecided: Bool, in fanOut: FanOut) {
    var isDecided = isDecided
    while !isDecided {
      if turn.exchange(from: PollTurn.counting, to: PollTurn.free) { return }
      turn.store(PollTurn.counting, ordering: .relaxed)
      isDecided = countQueue()
    }
    fanOut.halt()
    // Read first: the caller may be done with everything as soon as it goes on.
    let isComplete = ballot.isComplete
    ballot.close()
    publish()
    // Not in place: that may be the caller's, who is not to wait for the cancellation handlers.
    if !isComplete { fanOut.cancelOthers() }
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

  /// Counts what has come meanwhile, up to a decision.
  ///
  /// - Returns: whether there is one.
  @inlinable
  func countQueue() -> Bool {
    while let item = desk.withLock({ $0.queue.popFirst() }) {
      if item.count() { return true }
    }
    return false
  }

  /// Tells the caller that the poll is decided.
  @inlinable
  func publish() {
    // What came too late is released after the lock.
    let (caller, late) = desk.withLock { desk in
      desk.isDecided = true
      defer { desk.caller = nil }
      return (desk.caller, desk.queue.takeAll())
    }
    withExtendedLifetime(late) {}
    caller?.continuation.resume()
  }
}

/// What those share who bring a poll's answers and the one who waits.
@usableFromInline
struct PollDesk: Sendable {
  /// An input, ready to be counted by whoever has the ballot; says whether it decides.
  @usableFromInline
  struct Item: Sendable {
    @usableFromInline
    let count: @Sendable () -> Bool

    @inlinable
    init(count: @escaping @Sendable () -> Bool) {
      self.count = count
    }
  }

  /// What came while somebody else counted.
  @usableFromInline
  var queue = Queue<Item>()
  @usableFromInline
  var isDecided = false
  @usableFromInline
  var caller: Caller?

  /// The one who waits: an object, for what becomes of an optional continuation the runtime looks up each time.
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

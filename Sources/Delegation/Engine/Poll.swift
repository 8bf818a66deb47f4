/// Carries one ballot from many workers to one caller.
///
/// The combiner is user code, so it never runs under a lock. A worker that has an answer takes the ballot,
/// if no other worker has it, and counts. Answers that come meanwhile are queued, and the worker that has
/// the ballot counts them. The queue and who has the ballot are the ``Round``'s.
///
/// `@unchecked Sendable`: `ballot` and `outcome` are accessed before the poll is shared, and after that
/// only by the worker that has taken the ballot (``Round/takeBallot()``). The worker that decides never
/// gives it back. The caller takes `outcome` after it has read `isDecided` in the round's state, under the lock.
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
  @exclusivity(unchecked)
  var ballot: Count
  /// The decision: empty until there is one, and again when the caller has taken it.
  ///
  /// It is an array: of an optional the runtime would look up the type when the poll is released.
  @usableFromInline
  @exclusivity(unchecked)
  var outcome: [Decision] = []

  @inlinable
  init(_ ballot: Count) {
    self.ballot = ballot
  }

  @inlinable
  deinit {}

  /// Takes the decision, so that handlers that still run and keep the poll do not keep it.
  ///
  /// For the caller, once the round is decided.
  @inlinable
  @inline(never)
  static func takeDecision(of poll: Poll) -> Decision {
    guard let decision = poll.outcome.popLast() else {
      fatalError("Delegation: a poll went on undecided")
    }
    return decision
  }

  /// Counts an answer, or leaves it to the worker that has the ballot, and claims the worker's next subscription; if
  /// it decides, ends the round instead, and resumes the caller.
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
      isDecided = keep(ballot.count(answer, from: position))
    } else if !round.enqueue(
      ending: claim, by: worker, { self.keep(self.ballot.count(answer, from: position)) })
    {
      return round.claimNext(for: worker, givingBack: false).next
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
    round.expire()
    if round.enqueue({ self.keep(self.ballot.expire(counting: absence)) }) {
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
      let (mustCount, next) = round.claimNext(for: worker, givingBack: true)
      if !mustCount { return next }
      isDecided = round.countNext()
    }
    // Read first: after `end` the caller may already have gone on.
    let isComplete = ballot.isComplete
    ballot.clear()
    round.end(cancelling: !isComplete, except: worker)
    return nil
  }

  /// Keeps a decision, if there is one.
  ///
  /// - Returns: whether there is.
  @inlinable
  func keep(_ decision: Decision?) -> Bool {
    guard let decision else { return false }
    outcome = [decision]
    return true
  }
}

/// A question with its ballot and its decision, which have types.
///
/// `@unchecked Sendable`: `ballot` and `outcome` are accessed before the question is shared, and after that
/// only by the worker that counts (``Question/isCounting``). The one that decides never stops to. The caller takes
/// `outcome` after it has read under the lock that it is decided.
///
/// It is generic over the ballot as a whole, so that it has one type to look up.
@_fixed_layout
@usableFromInline
final class Poll<Count: Countable>: Question, @unchecked Sendable {
  @usableFromInline
  @exclusivity(unchecked)
  var ballot: Count
  /// The decision: empty until there is one, and again when the caller has taken it.
  ///
  /// It is an array: of an optional the runtime would look up the type when the poll is released.
  @usableFromInline
  @exclusivity(unchecked)
  var outcome: [Count.Decision] = []

  @inlinable
  init(
    _ ballot: Count, of nodes: consuming [SubscriptionNode], from first: Int = 0,
    admittedBy admits: Admission?, in core: HubCore, _ call: CallKind, expiring expiry: Expiry?, _ ask: @escaping Ask
  ) {
    self.ballot = ballot
    super.init(
      to: nodes, from: first, admittedBy: admits, of: core, in: call, expiring: expiry, ask)
  }

  @inlinable
  deinit {}

  /// Takes the decision, so that handlers that still run and keep the poll do not keep it.
  ///
  /// For the caller, once it is decided.
  @inlinable
  @inline(never)
  static func takeDecision(of poll: Poll) -> Count.Decision {
    guard let decision = poll.outcome.popLast() else {
      fatalError("Delegation: a poll went on undecided")
    }
    return decision
  }

  /// Counts an answer, or leaves it to the worker that counts, and claims the worker's next subscription; if it
  /// decides, ends the question instead, and resumes the caller.
  ///
  /// - Parameters:
  ///   - answer: the answer.
  ///   - claim: the subscription that it is from.
  ///   - worker: the worker that asked.
  /// - Returns: the next subscription; `nil` if there is none.
  @inlinable
  @inline(never)
  func take(_ answer: Count.Event, from claim: Claim, by worker: Worker) -> Claim? {
    let position = claim.position
    if beginCounting(ending: claim.node, by: worker) {
      return conclude(keep(ballot.count(answer, from: position)), by: worker)
    }
    let isCounting = enqueue(ending: claim.node, by: worker) {
      self.keep(self.ballot.count(answer, from: position))
    }
    return isCounting ? conclude(false, by: worker) : claimNext(for: worker, counting: false).next
  }

  /// Counts the subscribers that have not answered, which decides.
  ///
  /// - Parameter absence: what to count, by position.
  @inlinable
  @inline(never)
  func expire(counting absence: @escaping @Sendable (Int) -> Count.Event) {
    expire()
    if enqueue({ self.keep(self.ballot.expire(counting: absence)) }) {
      _ = conclude(false, by: nil)
    }
  }

  /// Counts what is queued, then stops counting, or ends the question if it is decided.
  ///
  /// - Parameters:
  ///   - isDecided: whether what was counted has decided.
  ///   - worker: the worker that counts; `nil` at the deadline.
  /// - Returns: the worker's next subscription; `nil` if there is none.
  @inlinable
  func conclude(_ isDecided: Bool, by worker: Worker?) -> Claim? {
    if !isDecided {
      let (isDecided, next) = claimNext(for: worker, counting: true)
      if !isDecided { return next }
    }
    // Read first: after `end` the caller may already have gone on.
    let isComplete = ballot.isComplete
    ballot.clear()
    end(cancelling: !isComplete, by: worker)
    return nil
  }

  /// Keeps a decision, if there is one.
  ///
  /// - Returns: whether there is.
  @inlinable
  func keep(_ decision: Count.Decision?) -> Bool {
    guard let decision else { return false }
    outcome = [decision]
    return true
  }
}

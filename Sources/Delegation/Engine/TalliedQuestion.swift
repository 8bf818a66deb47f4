/// A question with its tally and its decision, which have types.
///
/// `@unchecked Sendable`: its variables are accessed before the question is shared, and after that
/// only by the worker that counts (``Question/isCounting``). The one that decides never stops to. The caller takes
/// `outcome` after it has read under the lock that it is decided.
///
/// It is generic over the tally as a whole, so that it has one type to look up.
@_fixed_layout @usableFromInline
final class TalliedQuestion<Count: Tallying>: Question, @unchecked Sendable {
  @usableFromInline @exclusivity(unchecked) var tally: Count
  /// The decision: empty until there is one, and again when the caller has taken it.
  ///
  /// It is an array: of an optional the runtime would look up the type when the question is released.
  @usableFromInline @exclusivity(unchecked) var outcome: [Count.Decision] = []

  /// The subscriptions, as long as a deadline may come.
  @usableFromInline @exclusivity(unchecked) var nodes: [SubscriptionNode] = []
  /// What counts for one that has not answered by then: for nobody, if it is not there.
  @usableFromInline @exclusivity(unchecked) var late:
    (@Sendable (SubscriptionNode?) -> Count.Event)?

  @inlinable
  init(
    _ tally: Count, of nodes: consuming [SubscriptionNode], from first: Int = 0,
    admittedBy admits: RecipientFilter?, in core: HubCore, _ call: CallKind,
    until deadline: Deadline? = nil,
    late: (@Sendable (SubscriptionNode?) -> Count.Event)? = nil, _ ask: @escaping Ask
  ) {
    (self.tally, self.late) = (tally, late)
    if late != nil { self.nodes = nodes }
    super.init(
      to: nodes, from: first, admittedBy: admits, of: core, in: call, until: deadline, ask)
  }

  @inlinable
  deinit {}

  /// Takes the decision, so that handlers that still run and keep the question do not keep it.
  ///
  /// For the caller, once it is decided.
  @inlinable @inline(never)
  static func takeDecision(of question: TalliedQuestion) -> Count.Decision {
    guard let decision = question.outcome.popLast() else {
      fatalError("Delegation: a question went on undecided")
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
  @inlinable @inline(never)
  func take(_ answer: Count.Event, from claim: Claim, by worker: Worker) -> Claim? {
    let position = claim.position
    if beginCounting(ending: claim.node, by: worker) {
      return conclude(keep(tally.count(answer, from: position)), by: worker)
    }
    let isCounting = enqueue(ending: claim.node, by: worker) {
      self.keep(self.tally.count(answer, from: position))
    }
    return isCounting ? conclude(false, by: worker) : claimNext(for: worker, counting: false).next
  }

  @usableFromInline
  override func countLate() {
    let (begun, start) = (expire(), deadline.flatMap { $0.isPast ? nil : $0.start })
    expire { [self] position in
      let node = nodes[position].heir ?? nodes[position]
      let isLate = node.isLate(admittedBy: admits, in: call, notingSince: start, if: begun)
      guard let late else { fatalError("Delegation: a question expired that has no deadline") }
      return late(isLate ? node : nil)
    }
  }

  /// Counts the subscribers that have not answered, which decides.
  ///
  /// - Parameter absence: what to count, by position.
  @inlinable @inline(never)
  func expire(counting absence: @escaping @Sendable (Int) -> Count.Event) {
    if enqueue({ self.keep(self.tally.expire(counting: absence)) }) {
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
    end(by: worker)
    return nil
  }

  /// Not inlined: it would make each answer that decides nothing dearer.
  @inlinable @inline(never)
  func end(by worker: Worker?) {
    // Read first: after that the caller may already have gone on.
    let isComplete = tally.isComplete
    tally.clear()
    if late != nil { (nodes, late) = ([], nil) }
    end(cancelling: !isComplete, by: worker)
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

/// How a question's handlers run within interceptors.
extension TalliedQuestion {
  /// One worker's part of the question: as ``Question/run(from:as:counting:asking:)``.
  ///
  /// Not inlined into clients: they pay for its code only with the test that leads here. So it is not specialized, and
  /// looks up each generic type that it uses at run time, for 300 instructions.
  @usableFromInline
  func run<A: Asking>(
    from first: Claim, as worker: Worker, within interception: Interception, _ asking: A
  ) async -> Claim? where Count.Event == Answer<A.Response, A.Failure> {
    await run(from: first, as: worker) { answer, claim in
      take(answer, from: claim, by: worker)
    } asking: { node in
      guard node.isReached(by: admits, endingIn: call) else {
        return node.absence()
      }
      var answer = Answer<A.Response, A.Failure>.absence
      var isPassedOn = false
      // Until the innermost one calls the handler.
      worker.note(.unasked)
      await interception.run(DelegateHub.HandlerCall(call, on: node)) {
        isPassedOn = true
        // The interceptors may have taken their time.
        guard node.isOpen, !isDecided else { return .notCalled }
        worker.note(.answered)
        answer = await asking.answer(of: node, in: self)
        return worker.outcome
      }
      if isPassedOn { return answer }
      // What `absent:` counts for a gate that throws or is late counts for one that they keep from answering.
      if case .substitute(let response) = asking.late?(node) { return .substitute(response) }
      return .absence
    }
  }
}

/// What a wait by `drain`, `notifyAndWait` or `cancelAndWait` waits for.
///
/// A wait outside of all handlers is *strict*: it excuses no handler. A wait in a handler *excuses* handlers, that is,
/// does not wait for them: the handlers that wait themselves, its own among them, and the handlers that cannot go on
/// before one of these does. So if two handlers wait for each other, even through several hubs, both go on. Only a
/// drain waits for a closure that delays a drain, so other waits in such a closure are strict.
enum WaitGoal: Sendable {
  /// That a hub is idle: no notification is pending, no handler runs, and no closure delays the drain.
  case rest(of: HubCore)
  /// That no handler of a subscription runs.
  case end(of: SubscriptionNode)
  /// That all subscriptions to which a notification was addressed have *passed* it: see ``Notification``.
  ///
  /// `exceptEnded`, for a post with a window (`leaving:`), leaves out ended subscriptions, whose handlers may hang.
  case passing(of: Receipt, in: Topic, exceptEnded: Bool)

  /// A wait in a handler: its goal, and the handlers that cannot go on before the wait ends.
  private typealias Wait = (goal: WaitGoal, contexts: [HandlerContext])

  /// The waits in handlers, by group, then by waiter.
  private static let waits = Lock<[Int: [Int: Wait]]>([:])

  /// The key of one of a hub's groups of waits.
  ///
  /// Group 0 has the waits for something of this hub that are not strict. The waits in the other groups hold up this
  /// hub's handlers of notifications (1) or questions (2), or closures that delay a drain (3).
  private static func group(_ kind: Int, of hub: Int) -> Int { hub << 2 | kind }

  private static func group(of handler: HandlerContext) -> Int {
    group(handler.worker.isAttending ? 1 : handler.isDelay ? 3 : 2, of: handler.worker.hub)
  }

  /// Identifies what is waited for.
  private var key: Int {
    switch self {
    case .rest(let hub): Self.key(of: hub)
    case .end(let node): Self.key(of: node)
    case .passing(let receipt, _, _): Self.key(of: receipt)
    }
  }

  private static func key(of object: AnyObject) -> Int { Int(bitPattern: ObjectIdentifier(object)) }

  /// Makes the waiter; its kind says what the wait leaves out.
  ///
  /// Kind 0: nothing; 1: ended subscriptions; 2: excused handlers; 3: both.
  private func makeWaiter(isStrict: Bool) -> Waiter {
    if case .passing(_, _, true) = self {
      return Waiter(kind: isStrict ? 1 : 3) { isStrict ? endedInHandCount : countWaiting() }
    }
    return isStrict ? Waiter() : Waiter(kind: 2, excusing: countWaiting)
  }

  /// The number of the hub whose handlers are waited for.
  private var hub: Int {
    switch self {
    case .rest(let hub): hub.number
    case .end(let node): node.topic.hubNumber
    case .passing(_, let topic, _): topic.hubNumber
    }
  }

  /// Whether the goal can be reached only after the given handler has ended.
  private func waits(for handler: HandlerContext) -> Bool {
    switch self {
    case .rest(let hub): return handler.worker.hub == hub.number
    case .end(let node): return handler.isHandler(of: node)
    case .passing(let receipt, _, let exceptEnded):
      guard handler.worker.isAttending, let node = handler.node else { return false }
      return node.hasPending(receipt) && !(exceptEnded && node.hasEndedInHand)
        || node.follower?.hasPending(receipt) ?? false
    }
  }

  /// How many subscriptions the goal leaves out because they have ended.
  private var endedInHandCount: Int {
    guard case .passing(let receipt, _, true) = self else { return 0 }
    // The count is below 0 if a handler ends just before its ended subscription is counted.
    return max(0, receipt.endedInHand.load(ordering: .sequentiallyConsistent))
  }

  /// How many handlers or subscriptions that the goal counts are excused or left out now.
  private func countWaiting() -> Int {
    let endedInHandCount = endedInHandCount
    let kinds =
      switch self {
      case .passing: 1...1
      case .end: 1...2
      case .rest: 1...3
      }
    let present = kinds.flatMap { Self.present(at: Self.group($0, of: hub)) }
    let handlers = present.flatMap { HandlerContext.chain(of: $0.contexts) }
    return endedInHandCount + Set(handlers.lazy.filter(waits).map(unit)).count
  }

  /// What the goal counts for a handler: its worker, which runs one handler at a time, or, for a notification, its
  /// subscription.
  private func unit(of handler: HandlerContext) -> Int {
    if case .passing = self { return Int(bitPattern: handler.nodeBits) }
    return Self.key(of: handler.worker)
  }

  private static func present(at group: Int) -> [Wait] {
    waits.withLock { ($0[group]?.values).map(Array.init) ?? [] }
  }

  /// Changes the list of the goal's waiters, and resumes those whose wait is over.
  ///
  /// Must not be called under a lock.
  private func update(_ change: WaitList.Change) {
    switch self {
    case .rest(let hub): hub.workers.update(change)
    case .end(let node): node.topic.updateWaiters(for: node, change)
    case .passing(let receipt, _, _): receipt.outstanding.update(change)
    }
  }
}

extension WaitGoal {
  /// Waits until the goal is reached, the deadline has come, or, if `isCancellable`, the caller's task is cancelled.
  ///
  /// - Returns: whether the goal was reached; false for a wait that is not strict.
  nonisolated(nonsending) func wait(
    until deadline: Deadline?, isCancellable: Bool = true
  ) async -> Bool {
    let contexts = HandlerContext.present
    let chain = HandlerContext.chain(of: contexts)
    let isStrict = chain.allSatisfy { $0.isDelay && !isDrain }
    var groups = Set(chain.map(Self.group(of:)))
    if !isStrict { groups.insert(Self.group(0, of: hub)) }
    let waiter = makeWaiter(isStrict: isStrict)
    if !groups.isEmpty {
      Self.note((self, contexts), of: waiter, at: groups)
      Self.lookAgain(for: chain)
    }
    update(.add(waiter))
    let isReached = await waiter.wait(until: deadline, isCancellable: isCancellable)
    if !isReached { update(.remove(waiter)) }
    if !groups.isEmpty { Self.note(nil, of: waiter, at: groups) }
    return isReached && isStrict
  }

  private var isDrain: Bool { if case .rest = self { true } else { false } }

  /// Notes a wait, or with `nil` that the wait is over.
  private static func note(_ wait: Wait?, of waiter: Waiter, at groups: Set<Int>) {
    for group in groups {
      let former = waits.withLock { waits in
        defer { if waits[group]?.isEmpty == true { waits[group] = nil } }
        return exchange(&waits[group, default: [:]][key(of: waiter)], with: wait)
      }
      withExtendedLifetime(former) {}
    }
  }

  /// Has the waits for these handlers count again what they excuse: these handlers wait themselves from now on.
  private static func lookAgain(for handlers: [HandlerContext]) {
    var keys: Set<Int> = []
    for wait in Set(handlers.map { group(0, of: $0.worker.hub) }).flatMap(present)
    where !keys.contains(wait.goal.key) && handlers.contains(where: wait.goal.waits) {
      keys.insert(wait.goal.key)
      wait.goal.update(.recount)
    }
  }
}

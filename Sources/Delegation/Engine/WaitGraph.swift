/// Which handlers wait for which others: the calls of `drain`, `notifyAndWait` and `cancelAndWait` within
/// handlers, of all hubs.
///
/// A wait outside of handlers is strict, and not in the graph. A wait within a handler does not wait for
/// the handlers of its own chain. Nor does it wait for handlers that already wait, directly or through
/// others, for one of its chain; so two handlers that wait for each other both go on. In each circle the
/// wait that came last gives way. Circles may run through several hubs, so the process has one graph.
///
/// It is searched for the circles of a wait when that begins, and again only when its count has fallen to what
/// was excused then. It is meant for a handful of waits: a search looks at each pair of them at most.
///
/// Invariant: `waits` are in the order of their numbers, which is the order of arrival. What a wait excuses is
/// chosen from the waits before it, so a later wait changes nothing for it. A hand-over of notifications may:
/// then the first wait for one of them is counted anew, and all after it.
struct WaitGraph: Sendable {
  struct Wait: Sendable {
    let number: Int
    let goal: WaitGoal
    let context: HandlerContext
  }

  static let shared = Lock(WaitGraph())

  private(set) var waits: [Wait] = []
  private var lastNumber = 0

  /// Adds a wait.
  ///
  /// - Returns: its number; `nil` if its handler has returned, which makes the wait strict.
  mutating func add(_ goal: WaitGoal, in context: HandlerContext) -> Int? {
    guard context.isRunning else { return nil }
    lastNumber += 1
    waits.append(Wait(number: lastNumber, goal: goal, context: context))
    return lastNumber
  }

  /// Removes a wait that is over.
  ///
  /// - Returns: the wait, to be released outside the lock.
  mutating func remove(_ number: Int) -> Wait? {
    index(of: number).map { waits.remove(at: $0) }
  }

  private func index(of number: Int) -> Int? {
    let index = waits.partitioningIndex { $0.number >= number }
    return index < waits.count && waits[index].number == number ? index : nil
  }

  /// How many of the handlers that a wait's goal counts are excused at the moment.
  func countExcused(by number: Int) -> Int {
    guard let index = index(of: number) else { return 0 }
    // The handlers that cannot go on before the wait ends: its own, and those of earlier waits that wait for one
    // of them.
    var handlers = waits[index].context.chain
    var earlier = waits[..<index]
    var visited = 0
    while visited < handlers.count {
      let handler = handlers[visited]
      visited += 1
      let found = earlier.partition { $0.goal.waits(for: handler) }
      handlers += earlier[found...].flatMap(\.context.chain)
      earlier.removeSubrange(found...)
    }
    let excused = handlers.filter(waits[index].goal.waits)
    // Each count has one for a worker at most, as that runs one handler at a time.
    return Set(excused.map { ObjectIdentifier($0.worker) }).count
  }
}

/// What a wait waits for.
enum WaitGoal: Sendable {
  /// That a hub is idle: no notification is pending and no handler runs.
  case rest(of: Activity)
  /// That no handler of a subscription runs.
  case end(of: SubscriptionNode)
  /// That all subscriptions that a notification was addressed to have passed it.
  case passing(of: Receipt)

  /// Whether the goal can be reached only after a handler has ended.
  func waits(for handler: HandlerContext) -> Bool {
    switch self {
    case .rest(let activity): handler.worker.activity === activity
    case .end(let node): handler.isHandler(of: node)
    case .passing: handler.isAttending && handler.node.map(isPassing) ?? false
    }
  }

  /// Whether it is the passing of a notification that is pending for a subscription.
  func isPassing(of node: SubscriptionNode) -> Bool {
    if case .passing(let receipt) = self { node.hasPending(receipt) } else { false }
  }

  /// Changes the list of the goal's waiters, and resumes those that need not wait.
  ///
  /// Must not be called under a lock.
  func update(_ change: (inout WaitList) -> Void) {
    switch self {
    case .rest(let activity): activity.workers.update(change)
    case .end(let node): node.topic.updateWaiters(for: node, change)
    case .passing(let receipt): receipt.outstanding.update(change)
    }
  }
}

/// How `drain`, `notifyAndWait` and `cancelAndWait` wait.
extension WaitGoal {
  /// Waits until the goal is reached, even if the caller's task is cancelled.
  nonisolated(nonsending) func wait() async {
    _ = await wait { await $0.wait() }
  }

  /// Waits until the goal is reached, the caller's task is cancelled, or the deadline has come.
  ///
  /// - Parameter deadline: the deadline; `nil` for none.
  /// - Returns: whether the goal was reached, and nothing was excused.
  nonisolated(nonsending) func wait(until deadline: Deadline?) async -> Bool {
    await wait { waiter in
      // Most need not wait, and set no alarm.
      let cancelAlarm = waiter.outcome == nil ? deadline?.schedule { waiter.resume(false) } : nil
      defer { cancelAlarm?() }
      return await withTaskCancellationHandler {
        await waiter.wait()
      } onCancel: {
        waiter.resume(false)
      }
    }
  }

  nonisolated(nonsending) private func wait(
    _ body: nonisolated(nonsending) (Waiter) async -> Bool
  ) async -> Bool {
    let number = HandlerContext.current.flatMap { context in
      WaitGraph.shared.withLock { $0.add(self, in: context) }
    }
    let waiter =
      number.map { number in
        Waiter { WaitGraph.shared.withLock { $0.countExcused(by: number) } }
      } ?? Waiter()
    update { $0.add(waiter) }
    let isReached = await body(waiter)
    if !isReached { update { $0.remove(waiter) } }
    if let number { _ = WaitGraph.shared.withLock { $0.remove(number) } }
    return isReached && number == nil
  }
}

extension DelegateHub.Subscription {
  /// Ends the subscription and waits until none of its handlers is running.
  ///
  /// When it returns, no handler of the subscription is running, and none will. Nor is one of an ended subscription
  /// of the same object to the same protocol.
  ///
  /// **Order.** No call starts from the moment at which it is called.
  ///
  /// **Isolation.** Works from everywhere, from every handler too.
  ///
  /// **Re-entrancy.** Called from a handler of this subscription, it does not wait for that handler, nor for
  /// handlers that wait for it in turn. A `Task` that the handler has started counts as the handler, which
  /// might await it. In a `Task.detached` it waits for the handler, too, and in a `Task` that a synchronous
  /// handler of a notification, or of a question that is asked in a loop, has started. If a voter waits for the handler
  /// that asks it, by way of its subscription or hub, later waits in that handler and in the other voters do not wait
  /// for this voter.
  ///
  /// **Cancellation.** It waits even if the caller's task is cancelled, because resources may be
  /// freed when it returns.
  ///
  /// **Errors.** It does not throw.
  ///
  /// - Complexity: as ``cancel()``.
  public func cancelAndWait() async {
    cancel()
    for node in node.endedOnes + [node] { await WaitGoal.end(of: node).wait() }
  }
}

/// Which handlers wait for which others: the calls of `drain`, `notifyAndWait` and `cancelAndWait` within
/// handlers, of all hubs.
///
/// A wait outside of handlers is strict, and not in the graph. A wait within a handler does not wait for
/// the handlers of its own chain. Nor does it wait for handlers that already wait, directly or through
/// others, for one of its chain; so two handlers that wait for each other both go on. In each circle the
/// wait that came last gives way. Circles may run through several hubs, so the process has one graph.
///
/// It is searched for the circles of a wait when that begins, and again only when its count has fallen to what
/// was excused then. A search looks at the waits for a handler's hub, subscription or protocol, and not at others.
///
/// Invariant: what a wait excuses is chosen from the waits before it, so a later wait changes nothing for it.
struct WaitGraph: Sendable {
  struct Wait: Sendable {
    /// Numbers are in the order of arrival.
    let number: Int
    let goal: WaitGoal
    let context: HandlerContext
  }

  static let shared = Lock(WaitGraph())

  /// By the keys of their goals, each list in the order of the numbers.
  private(set) var waits: [Int: [Wait]] = [:]
  private var lastNumber = 0

  /// Adds a wait.
  ///
  /// - Returns: the wait; `nil` if its handler has returned, which makes it strict.
  mutating func add(_ goal: WaitGoal, in context: HandlerContext) -> Wait? {
    guard context.isRunning else { return nil }
    lastNumber += 1
    let wait = Wait(number: lastNumber, goal: goal, context: context)
    waits[goal.key, default: []].append(wait)
    return wait
  }

  /// Removes a wait that is over, which the caller keeps until after the lock.
  mutating func remove(_ wait: Wait) {
    if let index = waits[wait.goal.key]?.firstIndex(where: { $0.number == wait.number }) {
      waits[wait.goal.key]?.remove(at: index)
    }
    if waits[wait.goal.key]?.isEmpty == true { waits[wait.goal.key] = nil }
  }

  /// How many of the handlers that a wait's goal counts are excused at the moment.
  func countExcused(by wait: Wait) -> Int {
    // The handlers that cannot go on before the wait ends: its own, and those of earlier waits that wait for one
    // of them.
    var handlers = wait.context.chain
    var (found, searched): (Set<Int>, Set<Int>) = ([], [])
    var visited = 0
    while visited < handlers.count {
      let handler = handlers[visited]
      visited += 1
      for (key, isSame) in WaitGoal.keys(waitingFor: handler) {
        // Many handlers have one hub.
        if isSame, !searched.insert(key).inserted { continue }
        for earlier in waits[key] ?? []
        where earlier.number < wait.number && earlier.goal.waits(for: handler) {
          if found.insert(earlier.number).inserted { handlers += earlier.context.chain }
        }
      }
    }
    let excused = handlers.filter(wait.goal.waits)
    // Each count has one for a worker at most, as that runs one handler at a time.
    return Set(excused.map { ObjectIdentifier($0.worker) }).count
  }
}

/// What a wait waits for.
enum WaitGoal: Sendable {
  /// That a hub is idle: no notification is pending and no handler runs.
  case rest(of: HubCore)
  /// That no handler of a subscription runs.
  case end(of: SubscriptionNode)
  /// That all subscriptions that a notification was addressed to have passed it.
  case passing(of: Receipt)

  /// By what the graph finds it: the hub, the subscription, or the number of the protocol.
  var key: Int {
    switch self {
    case .rest(let hub): Int(bitPattern: ObjectIdentifier(hub))
    case .end(let node): Int(bitPattern: node.identityBits)
    case .passing(let receipt): receipt.place?.topic ?? 0
    }
  }

  /// The keys of the goals that may wait for a handler, each with whether all goals of it wait for the same handlers.
  static func keys(waitingFor handler: HandlerContext) -> [(key: Int, isSame: Bool)] {
    let hub = Int(bitPattern: handler.worker.hub)
    let keys = [(hub, true), (Int(bitPattern: handler.nodeBits), true)]
    return keys + (handler.node.map { [($0.topic.number, false)] } ?? [])
  }

  /// Whether the goal can be reached only after a handler has ended.
  func waits(for handler: HandlerContext) -> Bool {
    switch self {
    case .rest(let hub): handler.worker.hub == ObjectIdentifier(hub)
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
    case .rest(let hub): hub.workers.update(change)
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
    let wait = HandlerContext.current.flatMap { context in
      WaitGraph.shared.withLock { $0.add(self, in: context) }
    }
    let waiter =
      wait.map { wait in
        Waiter { WaitGraph.shared.withLock { $0.countExcused(by: wait) } }
      } ?? Waiter()
    update { $0.add(waiter) }
    let isReached = await body(waiter)
    if !isReached { update { $0.remove(waiter) } }
    if let wait { WaitGraph.shared.withLock { $0.remove(wait) } }
    return isReached && wait == nil
  }
}

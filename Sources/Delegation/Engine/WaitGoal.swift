/// What a wait by `drain`, `notifyAndWait` or `cancelAndWait` waits for.
///
/// A wait outside of handlers is strict. A wait within a handler ends when all that it still waits for are handlers that
/// wait themselves, and those that cannot go on before one of these does: its own is one of them. So no handlers wait for
/// each other, not even through several hubs; of two that would, both go on.
enum WaitGoal: Sendable {
  /// That a hub is idle: no notification is pending and no handler runs.
  case rest(of: HubCore)
  /// That no handler of a subscription runs.
  case end(of: SubscriptionNode)
  /// That all subscriptions that a notification was addressed to have passed it.
  case passing(of: Receipt)
  /// The same, for who posts more: not of those whose subscription has ended, and whose handler may hang.
  case room(after: Receipt, in: Topic)

  /// The handlers that wait now, of all hubs, by the waiters, which are kept as long.
  private static let waits = Lock<
    [ObjectIdentifier: (waiter: Waiter, goal: WaitGoal, context: HandlerContext)]
  >([:])

  /// By what those who wait for the same are known.
  private var key: ObjectIdentifier {
    switch self {
    case .rest(let hub): ObjectIdentifier(hub)
    case .end(let node): ObjectIdentifier(node)
    case .passing(let receipt), .room(let receipt, _): ObjectIdentifier(receipt)
    }
  }

  /// Whether the goal can be reached only after a handler has ended.
  private func waits(for handler: HandlerContext) -> Bool {
    switch self {
    case .rest(let hub): handler.worker.hub == hub.number
    case .end(let node): handler.isHandler(of: node)
    case .passing(let receipt), .room(let receipt, _):
      handler.worker.isAttending && handler.node.map { $0.hasPending(receipt) } ?? false
    }
  }

  /// Those that the goal counts, and that are not waited for.
  private var leftOut: [SubscriptionNode] {
    guard case .room(let receipt, let topic) = self else { return [] }
    return topic.state.withLock { $0.allEnded }.filter { $0.hasPending(receipt) }
  }

  /// How many of those that the goal counts wait at the moment, or are not waited for.
  ///
  /// Each count has one for a worker at most, as that runs one handler at a time.
  private func countWaiting() -> Int {
    let leftOut = leftOut
    let present = Self.waits.withLock { Array($0.values) }
    let handlers = present.flatMap(\.context.chain).filter { handler in
      waits(for: handler) && !leftOut.contains(where: handler.isHandler)
    }
    return leftOut.count + Set(handlers.map { ObjectIdentifier($0.worker) }).count
  }

  /// Changes the list of the goal's waiters, and resumes those that need not wait.
  ///
  /// Must not be called under a lock.
  private func update(_ change: (inout WaitList) -> Void) {
    switch self {
    case .rest(let hub): hub.workers.update(change)
    case .end(let node): node.topic.updateWaiters(for: node, change)
    case .passing(let receipt), .room(let receipt, _): receipt.outstanding.update(change)
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
    let context = HandlerContext.current.flatMap { $0.isRunning ? $0 : nil }
    // From outside, handlers that wait are waited for.
    let isOutside = context == nil
    var hasExcuses = !isOutside
    if case .room = self { hasExcuses = true }
    let waiter =
      hasExcuses ? Waiter { isOutside ? leftOut.count : countWaiting() } : Waiter()
    if let context {
      Self.waits.withLock { $0[ObjectIdentifier(waiter)] = (waiter, self, context) }
      Self.lookAgain(for: context.chain)
    }
    update { $0.add(waiter) }
    let isReached = await body(waiter)
    if !isReached { update { $0.remove(waiter) } }
    if isOutside { return isReached }
    _ = Self.waits.withLock { $0.removeValue(forKey: ObjectIdentifier(waiter)) }
    return false
  }

  /// Has those look again who wait for handlers that wait from now on.
  private static func lookAgain(for handlers: [HandlerContext]) {
    var keys: Set<ObjectIdentifier> = []
    for wait in waits.withLock({ Array($0.values) })
    where handlers.contains(where: wait.goal.waits) && keys.insert(wait.goal.key).inserted {
      wait.goal.update { $0.recount() }
    }
  }
}

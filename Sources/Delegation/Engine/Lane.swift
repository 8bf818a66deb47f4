/// The delivery of pending notifications to subscriptions that have one executor.
///
/// *Workers* claim subscriptions from a shared cursor, one at a time and in order, and run the handlers of each in
/// place. While a subscription is unclaimed, one worker has been requested and has claimed nothing: the
/// *standby*. A worker that starts with more than one subscription left requests the next before it
/// claims, unless another one is requesting, which then requests again. So a handler that suspends, or
/// blocks its thread, does not delay the others, and the number of tasks grows with suspensions, not with
/// subscribers.
///
/// The hub's lane begins with a snapshot. A worker that claims a subscription with another executor adds it to the
/// lane of that one, whose workers run there. A subscription is in one lane at a time, and is attended by nobody
/// meanwhile, so an executor that stands still holds nothing else.
final class Lane: Sendable {
  /// What workers share under the lock.
  struct State: Claimable {
    var cursor: Cursor
    /// The lanes of other executors, by their places.
    var lanes: [ObjectIdentifier: Lane] = [:]
  }

  let workplace: any Workplace
  /// The workplace's.
  let activity: Activity
  let slowWatch: SlowWatch?
  /// Where its workers run; `nil` for the default.
  private let executor: (any TaskExecutor)?
  /// The executor's.
  let place: ObjectIdentifier?
  /// Whether it is not the hub's, so that each of its subscriptions is counted, and not its workers.
  let isElsewhere: Bool
  /// That of all its workers, which is higher than the default if a caller waits for what they deliver.
  private let priority: TaskPriority
  let state: Lock<State>

  /// Makes the hub's lane.
  convenience init(delivering nodes: consuming [SubscriptionNode], for workplace: any Workplace) {
    self.init(
      nodes, for: workplace, on: workplace.executor, isElsewhere: false, Task.currentPriority)
  }

  private init(
    _ nodes: consuming [SubscriptionNode], for workplace: any Workplace,
    on executor: (any TaskExecutor)?, isElsewhere: Bool, _ priority: TaskPriority
  ) {
    self.workplace = workplace
    activity = workplace.activity
    slowWatch = workplace.surroundings?.slowWatch
    self.executor = executor
    place = executor.map(Delegation.place)
    self.isElsewhere = isElsewhere
    self.priority = priority
    state = Lock(State(cursor: Cursor(nodes)))
  }

  /// Requests one more worker.
  ///
  /// Its task is detached: handlers of notifications do not inherit the poster's task-locals.
  func requestWorker() {
    if !isElsewhere { activity.begin() }
    // Not by `startDetached`: its closure would be one allocation more for each suspension.
    if let executor {
      Task.detached(executorPreference: executor, priority: priority) {
        await self.work()
        if !self.isElsewhere { self.activity.end() }
      }
    } else {
      Task.detached(priority: priority) {
        await self.work()
        self.activity.end()
      }
    }
  }

  /// Claims the next subscription that has not ended in its lane.
  ///
  /// - Parameter isFirst: whether the worker begins, and requests the standby before.
  /// - Returns: the subscription; `nil` if none is left.
  func claim(atBeginning isFirst: Bool = false) -> SubscriptionNode? {
    var next = isFirst ? state.begin { requestWorker() } : state.claim()
    while let node = next?.node {
      if !isElsewhere || node.leaveLane() { return node }
      next = state.claim()
    }
    // A worker whose handler is suspended is not to keep them.
    let lanes = state.withLock { state in
      defer { state.lanes = [:] }
      return state.lanes
    }
    withExtendedLifetime(lanes) {}
    return nil
  }

  /// Adds a subscription that waits for an executor to the lane of that one.
  ///
  /// `enqueue` may run the worker at once, or block: the caller holds nothing that would wait meanwhile.
  func add(_ node: SubscriptionNode, toLaneOf executor: any TaskExecutor) {
    let place = Delegation.place(of: executor)
    let lane = state.withLock { state in
      if let lane = state.lanes[place] { return lane }
      let lane = Lane([], for: workplace, on: executor, isElsewhere: true, priority)
      state.lanes[place] = lane
      return lane
    }
    lane.state.provideStandby(after: { $0.append(node) }) { lane.requestWorker() }
  }
}

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

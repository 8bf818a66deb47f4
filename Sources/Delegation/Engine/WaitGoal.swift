/// What a wait is for.
enum WaitGoal: Sendable {
  /// That nothing of a hub waits or runs.
  case rest(of: Activity)
  /// That no handler of this subscription runs.
  case end(of: SubscriptionNode)
  /// That all to whom a notification was addressed have passed it.
  case passing(of: Receipt)

  /// What a handler and the waits for it have in common, for the graph to look waits up by.
  enum Subject: Hashable {
    case hub(ObjectIdentifier)
    case subscription(ObjectIdentifier)
    case mailboxes(of: ObjectIdentifier)
  }

  var subject: Subject? {
    switch self {
    case .rest(let activity): .hub(ObjectIdentifier(activity))
    case .end(let node): .subscription(ObjectIdentifier(node))
    case .passing(let receipt): receipt.place.map { .mailboxes(of: ObjectIdentifier($0.topic)) }
    }
  }

  /// Whether a handler has to end, or its mailbox to go on, for the goal to be reached.
  func waits(for handler: HandlerContext) -> Bool {
    switch self {
    case .rest(let activity): handler.worker.activity === activity
    case .end(let node): handler.node === node
    case .passing(let receipt): handler.isAttending && handler.node?.hasPending(receipt) ?? false
    }
  }

  /// What the count of this goal counts a handler by: several handlers may be one in it.
  func counted(_ handler: HandlerContext) -> ObjectIdentifier {
    switch self {
    case .rest, .end: ObjectIdentifier(handler.worker)
    case .passing: handler.mailbox
    }
  }

  func add(_ waiter: Waiter) {
    switch self {
    case .rest(let activity): activity.workers.add(waiter)
    case .end(let node): node.topic.add(waiter, for: node)
    case .passing(let receipt): receipt.outstanding.add(waiter)
    }
  }

  func remove(_ waiter: Waiter) {
    switch self {
    case .rest(let activity): activity.workers.remove(waiter)
    case .end(let node): node.topic.remove(waiter, for: node)
    case .passing(let receipt): receipt.outstanding.remove(waiter)
    }
  }
}

extension HandlerContext {
  /// What its mailbox is counted by; itself if it has none.
  var mailbox: ObjectIdentifier {
    node.map { ObjectIdentifier($0) } ?? ObjectIdentifier(worker)
  }

  /// What waits for this handler may be for.
  var subjects: [WaitGoal.Subject] {
    var subjects: [WaitGoal.Subject] = [.hub(ObjectIdentifier(worker.activity))]
    guard let node else { return subjects }
    subjects.append(.subscription(ObjectIdentifier(node)))
    if isAttending { subjects.append(.mailboxes(of: ObjectIdentifier(node.topic))) }
    return subjects
  }
}

/// What a wait waits for.
enum WaitGoal: Sendable {
  /// That a hub is idle: no notification is pending and no handler runs.
  case rest(of: Activity)
  /// That no handler of a subscription runs.
  case end(of: SubscriptionNode)
  /// That all subscriptions that a notification was addressed to have passed it.
  case passing(of: Receipt)

  /// The key by which the wait graph finds the waits that may be for a handler.
  enum Subject: Hashable {
    case hub(ObjectIdentifier)
    /// By its identity, as bits: a handler of a question does not keep its subscription.
    case subscription(UInt)
    /// The mailboxes of a topic, by the topic's number.
    case mailboxes(of: Int)
  }

  var subject: Subject? {
    switch self {
    case .rest(let activity): .hub(ObjectIdentifier(activity))
    case .end(let node): .subscription(node.identityBits)
    case .passing(let receipt): receipt.place.map { .mailboxes(of: $0.topic) }
    }
  }

  /// Whether the goal can be reached only after a handler has ended.
  func waits(for handler: HandlerContext) -> Bool {
    switch self {
    case .rest(let activity): handler.worker.activity === activity
    case .end(let node): handler.isHandler(of: node)
    case .passing(let receipt): handler.isAttending && handler.node?.hasPending(receipt) ?? false
    }
  }

  /// The object by which this goal's count counts a handler; several handlers may share one.
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

extension WaitGoal {
  /// The object that the goal's waiters wait for.
  var object: ObjectIdentifier {
    switch self {
    case .rest(let activity): ObjectIdentifier(activity)
    case .end(let node): ObjectIdentifier(node)
    case .passing(let receipt): ObjectIdentifier(receipt)
    }
  }

  /// Resumes the waiters that need not wait any more now that what they excuse has changed.
  func reconsider() {
    switch self {
    case .rest(let activity): activity.workers.reconsider()
    case .end(let node): node.topic.reconsider(for: node)
    case .passing(let receipt): receipt.outstanding.reconsider()
    }
  }
}

extension HandlerContext {
  /// The object by which its mailbox is counted; its worker if it has no mailbox.
  var mailbox: ObjectIdentifier {
    node.map { ObjectIdentifier($0) } ?? ObjectIdentifier(worker)
  }

  /// The subjects of waits that may be for this handler.
  var subjects: [WaitGoal.Subject] {
    var subjects: [WaitGoal.Subject] = [.hub(ObjectIdentifier(worker.activity))]
    if nodeBits != 0 { subjects.append(.subscription(nodeBits)) }
    if isAttending, let node { subjects.append(.mailboxes(of: node.topic.number)) }
    return subjects
  }
}

extension DelegateHub.Statistics {
  /// The counts of one subscriber.
  ///
  /// The texts of ``subscriber`` and ``site`` are made each time you read them, with the id's own `description`:
  /// reading only numbers makes none. This value keeps the id that was given to `subscribe` in memory, but not a
  /// subscriber whose subscription has ended.
  public struct SubscriberStatistics: Sendable, Hashable {
    let id: Identity?
    /// The subscriber's type, and its id if it has one.
    public var subscriber: String { subscription.node.name(with: id) }
    /// Where in the source the subscriber was subscribed.
    public var site: String { subscription.node.site.description }
    /// The subscription, which you can end.
    public let subscription: DelegateHub.Subscription
    /// How many of the subscriber's handlers are running, those of votes included.
    public let running: Int
    /// What became of the notifications addressed to the subscriber.
    public let counts: Counts
    /// What became of the questions that the subscriber was asked.
    public let questions: Questions
    /// How many notifications wait for the subscriber, apart from one that is being handled.
    public var waiting: Int { counts.waiting }
  }

  /// The counts of one protocol.
  public struct ProtocolStatistics: Sendable {
    /// The protocol's name.
    public let name: String
    /// How many notifications were posted while anybody was subscribed, or were kept for a replay.
    public let posted: Int
    /// The sum of how many subscribers each notification was addressed to.
    public let addressed: Int
    /// What became of the notifications, including those of former subscribers.
    public let counts: Counts
    /// What became of the questions, including those of former subscribers.
    public let questions: Questions
    /// The present subscribers in the order in which they are served, then the removed ones whose handlers still run.
    public let subscribers: [SubscriberStatistics]
  }
}

extension DelegateHub.Statistics: CustomStringConvertible {
  /// How many notifications were posted while anybody was subscribed, or were kept for a replay.
  public var posted: Int { protocols.reduce(0) { $0 + $1.posted } }
  /// The sum of how many subscribers each notification was addressed to.
  public var addressed: Int { protocols.reduce(0) { $0 + $1.addressed } }
  /// What became of all protocols' notifications.
  public var counts: Counts { protocols.reduce(into: Counts()) { $0 += $1.counts } }
  /// What became of all protocols' questions.
  public var questions: Questions { protocols.reduce(into: Questions()) { $0 += $1.questions } }

  /// A line for each protocol that was called, and below it one for each subscriber.
  public var description: String {
    if protocols.isEmpty { return "no subscriptions" }
    let called = protocols.map(\.description).filter { !$0.isEmpty }
    return called.isEmpty ? "no calls" : called.joined(separator: "\n")
  }
}

extension DelegateHub.Statistics.Counts: CustomStringConvertible {
  /// The counts by name; *passed over* is left out if it is 0.
  public var description: String {
    let passedOver = passedOver > 0 ? "passed over \(passedOver), " : ""
    return "handled \(handled), failed \(failed), expired \(expired), dropped \(dropped), "
      + "cancelled \(cancelled), \(passedOver)waiting \(waiting), handling \(handling)"
  }
}

extension DelegateHub.Statistics.Questions: CustomStringConvertible {
  /// The counts by name.
  public var description: String {
    "asked \(asked), answered \(answered), failed \(failed), late \(late), "
      + "abandoned \(abandoned), answering \(answering)"
  }
}

extension DelegateHub.Statistics.SubscriberStatistics: CustomStringConvertible {
  /// The subscriber, how many of its handlers run, and its counts, if there are any.
  public var description: String {
    let told = counts.addressed > 0 ? ", \(counts)" : ""
    let asked = questions.asked > 0 ? "; \(questions)" : ""
    return "\(subscriber), subscribed at \(site): running \(running)\(told)\(asked)"
  }

  init(_ node: SubscriptionNode, counts: Account? = nil) {
    self.init(
      id: node.id, subscription: .init(node: node), running: node.runningCalls,
      counts: counts ?? node.account, questions: node.questions)
  }

  /// The counts of a subscription that has work left; `nil` if nothing is left.
  init?(leftOf node: SubscriptionNode) {
    // This runs at a deadline: what exceeds the mailbox's limit is counted as dropped, but stays in it, because
    // releasing it would run user code.
    self.init(
      node,
      counts: node.contents.withLock {
        let published = node.published
        var account = $0.mailbox.account(published: published)
        let addressed = min(published, $0.mailbox.end) - $0.mailbox.position
        let beyond = min(account.waiting, max(0, addressed - $0.mailbox.limit))
        account.waiting -= beyond
        account.dropped += beyond
        return account
      })
    if running == 0, waiting == 0 { return nil }
  }
}

extension DelegateHub.Statistics.ProtocolStatistics: CustomStringConvertible {
  /// The protocol and its counts, then a line for each subscriber; empty if it was never called.
  public var description: String {
    var parts: [String] = []
    if addressed > 0 { parts.append("posted \(posted), addressed \(addressed), \(counts)") }
    if questions.asked > 0 { parts.append("\(questions)") }
    if parts.isEmpty { return "" }
    let lines = ["\(name): " + parts.joined(separator: "; ")] + subscribers.map { "  \($0)" }
    return lines.joined(separator: "\n")
  }

  init(_ topic: Topic, listing isListing: Bool = true) {
    let overview = topic.overview()
    let all = overview.nodes.map { DelegateHub.Statistics.SubscriberStatistics($0) }
    var counts = all.reduce(into: overview.counts) { $0 += $1.counts }
    // `addressed` is read last, so that it includes all that is handled or in hand; the rest waits.
    let (posted, addressed) = topic.state.withLock { ($0.posted, $0.addressed) }
    // `waiting` is subtracted, because `counts.addressed` is a sum that includes it.
    counts.waiting = max(0, addressed - (counts.addressed - counts.waiting))
    self.init(
      name: topic.name, posted: posted, addressed: counts.addressed, counts: counts,
      questions: all.reduce(into: overview.questions) { $0 += $1.questions },
      subscribers: isListing ? all.filter { $0.subscription.node.isOpen || $0.running > 0 } : [])
  }
}

extension DelegateHub.Subscription {
  /// What has become of this subscription's notifications and questions.
  ///
  /// The subscription's part of ``DelegateHub/statistics()``, without waiting. You can also read it
  /// when the subscription has ended.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// - Complexity: O(1), and O(*n*) in the *n* notifications beyond the mailbox's limit, which this call drops.
  public var statistics: DelegateHub.Statistics.SubscriberStatistics { .init(node.present) }
}

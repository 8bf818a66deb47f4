extension DelegateHub {
  /// What has become of a hub's notifications, per protocol and subscriber.
  ///
  /// Nothing is lost: at every moment, for each protocol and for the hub,
  /// `handled + failed + expired + dropped + cancelled + waiting + handling` is `addressed`, the sum over
  /// all notifications of the number of subscribers that each was addressed to.
  public struct Statistics: Sendable, CustomStringConvertible {
    /// How many notifications ended in which way.
    public struct Counts: Sendable, Hashable {
      var account: Account

      /// Their handlers returned.
      public var handled: Int { account.handled }
      /// Their handlers threw.
      public var failed: Int { account.failed }
      /// Their subscriber died before it got to them.
      public var expired: Int { account.expired }
      /// The subscriber's mailbox was full.
      public var dropped: Int { account.dropped }
      /// The subscription was ended before it got to them.
      public var cancelled: Int { account.cancelled }
      /// They wait.
      public var waiting: Int { account.waiting }
      /// They are being handled.
      public var handling: Int { account.handling }

      /// All of them.
      public var total: Int { account.total }
    }

    /// How often a subscriber gave no answer to a question.
    public struct Questions: Sendable, Hashable {
      /// Its handler threw, other than after its task was cancelled.
      public internal(set) var failed = 0
      /// It had not answered at the deadline.
      public internal(set) var late = 0
    }

    /// One subscriber's part.
    ///
    /// The texts of ``subscriber`` and ``site`` are made each time you read them, with the id's own
    /// `description`. So the numbers alone cost nothing more. This value keeps the id that was
    /// given to `subscribe` in memory. It does not keep a subscriber whose subscription has ended.
    public struct SubscriberStatistics: Sendable {
      let name: SubscriberName
      /// The subscriber's type, and the id it was subscribed with.
      public var subscriber: String { name.description }
      /// Where in the source it subscribed.
      public var site: String { subscription.node.site.description }
      /// The subscription, by which it can be ended.
      public let subscription: Subscription
      /// How many of its handlers are running, those of votes included.
      public let running: Int
      /// What became of the notifications addressed to it.
      public let counts: Counts
      /// How often it gave no answer to a question.
      public let questions: Questions
    }

    /// One protocol's part.
    public struct ProtocolStatistics: Sendable {
      /// The protocol's name.
      public let name: String
      /// How many notifications were posted while anybody was subscribed.
      public let posted: Int
      /// The sum of the numbers of subscribers that each was addressed to.
      public let addressed: Int
      /// What became of them, including those of former subscribers.
      public let counts: Counts
      /// The present subscribers in the order in which they are served, then those that have been
      /// removed and have a handler running.
      public let subscribers: [SubscriberStatistics]
    }

    /// The protocols that anybody has ever subscribed to, by name.
    public let protocols: [ProtocolStatistics]

    /// How many notifications were posted while anybody was subscribed.
    public var posted: Int { protocols.reduce(0) { $0 + $1.posted } }
    /// The sum of the numbers of subscribers that each was addressed to.
    public var addressed: Int { protocols.reduce(0) { $0 + $1.addressed } }
    /// What became of them.
    public var counts: Counts {
      Counts(account: protocols.reduce(into: Account()) { $0 += $1.counts.account })
    }

    /// A line for each protocol, and below it one for each subscriber.
    ///
    /// Of protocols that were only asked, it lists only subscribers with a running handler or a
    /// missing answer.
    public var description: String {
      if protocols.isEmpty { return "no subscriptions" }
      let lines = protocols.map(\.description).filter { !$0.isEmpty }
      return lines.isEmpty ? "no notifications" : lines.joined(separator: "\n")
    }
  }
}

extension DelegateHub.Statistics.Counts: CustomStringConvertible {
  /// The counts by name.
  public var description: String {
    "handled \(handled), failed \(failed), expired \(expired), dropped \(dropped), "
      + "cancelled \(cancelled), waiting \(waiting), handling \(handling)"
  }
}

extension DelegateHub.Statistics.SubscriberStatistics: CustomStringConvertible {
  /// The subscriber, how many of its handlers run, and its counts, if there are any.
  public var description: String {
    var parts = ["running \(running)"]
    if counts.total > 0 { parts.append("\(counts)") }
    if questions.failed > 0 { parts.append("failed to answer \(questions.failed)") }
    if questions.late > 0 { parts.append("late to answer \(questions.late)") }
    return "\(subscriber), subscribed at \(site): " + parts.joined(separator: ", ")
  }

  /// Whether all its counts are zero.
  fileprivate var isBlank: Bool {
    running == 0 && counts.total == 0 && questions == .init()
  }

  init(_ node: SubscriptionNode, account: Account) {
    let misses = node.misses
    self.init(
      name: node.name, subscription: .init(node: node), running: node.runningCalls,
      counts: .init(account: account),
      questions: .init(failed: Int(misses.failed), late: Int(misses.late)))
  }
}

extension DelegateHub.Statistics.ProtocolStatistics: CustomStringConvertible {
  /// The protocol and its counts, then a line for each subscriber.
  ///
  /// If nothing was posted, it lists only subscribers with a running handler or a missing answer,
  /// and is empty if there are none.
  public var description: String {
    let isOnlyAsked = addressed == 0
    let told = isOnlyAsked ? subscribers.filter { !$0.isBlank } : subscribers
    if isOnlyAsked, told.isEmpty { return "" }
    let head =
      isOnlyAsked
      ? "\(name): only asked" : "\(name): posted \(posted), addressed \(addressed), \(counts)"
    return ([head] + told.map { "  \($0)" }).joined(separator: "\n")
  }

  init(
    _ overview: TopicRoster.Overview, accounts: [(node: SubscriptionNode, account: Account)],
    posted: Int, addressed: Int
  ) {
    var sum = accounts.reduce(into: overview.finished) { $0 += $1.account }
    // Notifications that were posted after the accounts were taken are waiting.
    sum.waiting = 0
    sum.waiting = addressed - sum.total
    self.init(
      name: overview.topic.name, posted: posted, addressed: addressed,
      counts: .init(account: sum),
      subscribers: accounts.compactMap { node, account in
        let statistics = DelegateHub.Statistics.SubscriberStatistics(node, account: account)
        return node.isOpen || statistics.running > 0 ? statistics : nil
      })
  }
}

extension DelegateHub.Subscription {
  /// What has become of this subscription's notifications, and how often it gave no answer.
  ///
  /// The subscription's part of ``DelegateHub/statistics()``, without waiting. You can also read it
  /// when the subscription has ended.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// - Complexity: O(1), apart from what its mailbox has yet to drop.
  public var statistics: DelegateHub.Statistics.SubscriberStatistics {
    .init(node, account: node.account)
  }
}

extension DelegateHub {
  /// What has become of a hub's notifications and questions, per protocol and subscriber.
  ///
  /// Nothing is lost: at every moment, for each protocol and for the hub,
  /// `handled + failed + expired + dropped + cancelled + passedOver + waiting + handling` is `addressed`, the
  /// sum over all notifications of the number of subscribers that each was addressed to. Of questions,
  /// `answered + failed + late + abandoned + answering` is `asked`, the sum over all questions of the number of
  /// subscribers that each was put to.
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
      /// They were for subscribers that conform to a further protocol, and theirs does not.
      ///
      /// See ``Delegates/conforming(to:)``. A mailbox with a limit passes over them at once, and another one in their
      /// turn.
      public var passedOver: Int { account.passedOver }
      /// They wait.
      public var waiting: Int { account.waiting }
      /// They are being handled.
      public var handling: Int { account.handling }

      /// All of them.
      public var total: Int { account.total }
    }

    /// How many questions ended in which way.
    ///
    /// A question counts once for each subscriber that it is put to: not for those whose turn never comes, because the
    /// outcome is fixed before, nor for those that are gone or do not conform.
    public struct Questions: Sendable, Hashable {
      var account: QuestionAccount

      /// They were answered in time: each handler returned, and what it returned counts.
      public var answered: Int { account.answered }
      /// Their handlers threw, other than after their tasks were cancelled.
      public var failed: Int { account.failed }
      /// They had not been answered at the deadline, also those whose handlers are still running.
      public var late: Int { account.late }
      /// Their outcome was fixed before they were answered, or their caller was cancelled.
      ///
      /// A handler is counted here when it returns or throws. One that is asked in a loop, because the closure awaits
      /// nothing, is not if it returns.
      public var abandoned: Int { account.abandoned }
      /// They are being answered.
      public var answering: Int { account.answering }

      /// All of them.
      public var asked: Int { account.asked }
    }

    /// One subscriber's part.
    ///
    /// The texts of ``subscriber`` and ``site`` are made each time you read them, with the id's own
    /// `description`. So the numbers alone cost nothing more. This value keeps the id that was
    /// given to `subscribe` in memory. It does not keep a subscriber whose subscription has ended.
    public struct SubscriberStatistics: Sendable {
      let id: Identity?
      /// The subscriber's type, and the id it was subscribed with.
      public var subscriber: String { subscription.node.name(with: id) }
      /// Where in the source it subscribed.
      public var site: String { subscription.node.site.description }
      /// The subscription, by which it can be ended.
      public let subscription: Subscription
      /// How many of its handlers are running, those of votes included.
      public let running: Int
      /// What became of the notifications addressed to it.
      public let counts: Counts
      /// What became of the questions that it was asked.
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
      /// What became of the questions, including those of former subscribers.
      public let questions: Questions
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

    /// What became of the questions.
    public var questions: Questions {
      Questions(account: protocols.reduce(into: QuestionAccount()) { $0 += $1.questions.account })
    }

    /// A line for each protocol that was called, and below it one for each subscriber.
    public var description: String {
      if protocols.isEmpty { return "no subscriptions" }
      let lines = protocols.map(\.description).filter { !$0.isEmpty }
      return lines.isEmpty ? "no calls" : lines.joined(separator: "\n")
    }
  }
}

extension DelegateHub.Statistics.Counts: CustomStringConvertible {
  /// The counts by name; those that were passed over only if there are any.
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
    let told = counts.total > 0 ? ", \(counts)" : ""
    let asked = questions.asked > 0 ? "; \(questions)" : ""
    return "\(subscriber), subscribed at \(site): running \(running)\(told)\(asked)"
  }

  init(_ node: SubscriptionNode, account: Account, questions: QuestionAccount) {
    self.init(
      id: node.id, subscription: .init(node: node), running: node.runningCalls,
      counts: .init(account: account), questions: .init(account: questions))
  }
}

extension DelegateHub.Statistics.ProtocolStatistics: CustomStringConvertible {
  /// The protocol and its counts, then a line for each subscriber; empty if it was never called.
  public var description: String {
    var parts: [String] = []
    if addressed > 0 { parts.append("posted \(posted), addressed \(addressed), \(counts)") }
    if questions.asked > 0 { parts.append("\(questions)") }
    if parts.isEmpty { return "" }
    let head = "\(name): " + parts.joined(separator: "; ")
    return ([head] + subscribers.map { "  \($0)" }).joined(separator: "\n")
  }

  init(
    _ overview: Roster,
    accounts: [(node: SubscriptionNode, account: Account, questions: QuestionAccount)],
    posted: Int, addressed: Int
  ) {
    var sum = accounts.reduce(into: overview.finished) { $0 += $1.account }
    // Notifications that were posted after the accounts were taken are waiting.
    sum.waiting = 0
    sum.waiting = addressed - sum.total
    self.init(
      name: overview.topic.name, posted: posted, addressed: addressed,
      counts: .init(account: sum),
      questions: .init(
        account: accounts.reduce(into: overview.finishedQuestions) { $0 += $1.questions }),
      subscribers: accounts.compactMap { node, account, questions in
        let statistics = DelegateHub.Statistics.SubscriberStatistics(
          node, account: account, questions: questions)
        return node.isOpen || statistics.running > 0 ? statistics : nil
      })
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
  /// - Complexity: O(1), apart from what its mailbox has yet to drop.
  public var statistics: DelegateHub.Statistics.SubscriberStatistics {
    .init(node, account: node.account, questions: node.questions)
  }
}

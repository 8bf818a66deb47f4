extension DelegateHub {
  /// What has become of a hub's notifications, per protocol and subscriber.
  ///
  /// Nothing is lost: at every moment, for each protocol and for the hub,
  /// `handled + failed + expired + dropped + cancelled + waiting` is `addressed`, the notifications
  /// posted times the subscribers each was for.
  public struct Statistics: Sendable, CustomStringConvertible {
    /// How many notifications ended in which way.
    public struct Counts: Sendable, Hashable {
      /// Their handlers returned.
      public internal(set) var handled = 0
      /// Their handlers threw.
      public internal(set) var failed = 0
      /// Their subscriber died before it got to them.
      public internal(set) var expired = 0
      /// The subscriber's mailbox was full.
      public internal(set) var dropped = 0
      /// The subscription was ended before it got to them.
      public internal(set) var cancelled = 0
      /// They wait, or are being handled.
      public internal(set) var waiting = 0

      /// All of them.
      public var total: Int { handled + failed + expired + dropped + cancelled + waiting }
    }

    /// One subscriber's part.
    ///
    /// ``subscriber`` and ``site`` are put into words each time they are read, by the id's own
    /// `description`; whoever reads numbers alone does not pay for that. Until it is let go, this keeps
    /// the id that was given to `subscribe`, and never the subscriber.
    public struct SubscriberStatistics: Sendable {
      let name: SubscriberName
      let place: Site
      /// The subscriber's type, and the id it was subscribed with.
      public var subscriber: String { name.description }
      /// Where in the source it subscribed.
      public var site: String { place.description }
      /// How many of its handlers are running, those of votes included.
      public let running: Int
      /// What became of the notifications addressed to it.
      public let counts: Counts
    }

    /// One protocol's part.
    public struct ProtocolStatistics: Sendable {
      /// The protocol's name.
      public let name: String
      /// How many notifications were posted while anybody was subscribed.
      public let posted: Int
      /// The same times the subscribers each was for.
      public let addressed: Int
      /// What became of them, at subscribers of the past included.
      public let counts: Counts
      /// The present subscribers in the order in which they are served, then those that have been
      /// removed and have a handler running.
      public let subscribers: [SubscriberStatistics]
    }

    /// The protocols that anybody has ever subscribed to, by name.
    public let protocols: [ProtocolStatistics]

    /// How many notifications were posted while anybody was subscribed.
    public var posted: Int { protocols.reduce(0) { $0 + $1.posted } }
    /// The same times the subscribers each was for.
    public var addressed: Int { protocols.reduce(0) { $0 + $1.addressed } }
    /// What became of them.
    public var counts: Counts { protocols.reduce(into: Counts()) { $0 += $1.counts } }

    /// A line for each protocol, and below it one for each subscriber.
    public var description: String {
      if protocols.isEmpty { return "no subscriptions" }
      return protocols.map(\.description).joined(separator: "\n")
    }
  }
}

extension DelegateHub.Statistics.Counts: CustomStringConvertible {
  /// The counts by name.
  public var description: String {
    "handled \(handled), failed \(failed), expired \(expired), dropped \(dropped), "
      + "cancelled \(cancelled), waiting \(waiting)"
  }

  init(_ account: Account) {
    handled = account.handled
    failed = account.failed
    expired = account.expired
    dropped = account.dropped
    cancelled = account.cancelled
    waiting = account.waiting
  }

  static func += (counts: inout Self, other: Self) {
    counts.handled += other.handled
    counts.failed += other.failed
    counts.expired += other.expired
    counts.dropped += other.dropped
    counts.cancelled += other.cancelled
    counts.waiting += other.waiting
  }
}

extension DelegateHub.Statistics.SubscriberStatistics: CustomStringConvertible {
  /// The subscriber, what it is doing, and its counts.
  public var description: String {
    "\(subscriber), subscribed at \(site): running \(running), \(counts)"
  }
}

extension DelegateHub.Statistics.ProtocolStatistics: CustomStringConvertible {
  /// The protocol and its counts, then a line for each subscriber.
  public var description: String {
    let head = "\(name): posted \(posted), addressed \(addressed), \(counts)"
    return ([head] + subscribers.map { "  \($0)" }).joined(separator: "\n")
  }

  init(
    _ overview: TopicRoster.Overview, accounts: [(node: SubscriptionNode, account: Account)],
    posted: Int, addressed: Int
  ) {
    var counts = accounts.reduce(into: overview.closed) { $0 += $1.account }
    // What was posted since the subscribers were looked at waits.
    counts.waiting = 0
    counts.waiting = addressed - counts.total
    self.init(
      name: overview.topic.name, posted: posted, addressed: addressed, counts: .init(counts),
      subscribers: accounts.compactMap { node, account in
        let running = node.runningCalls
        guard node.isOpen || running > 0 else { return nil }
        return .init(
          name: node.name, place: node.site, running: running,
          counts: .init(account))
      })
  }
}

extension DelegateHub {
  /// The work that was left when ``drain(within:)`` or ``notifyAndWait(_:within:_:)-4l7hx`` returned.
  public struct Leftovers: Sendable, CustomStringConvertible {
    /// A subscriber with work left.
    public struct Subscriber: Sendable, Hashable {
      /// The subscriber's type, and the id it was subscribed with.
      public let subscriber: String
      /// Where in the source it subscribed.
      public let site: String
      /// How many of its handlers are running.
      public let running: Int
      /// How many notifications wait for it, apart from the one being handled.
      public let waiting: Int
      /// The subscription, by which it can be ended.
      public let subscription: DelegateHub.Subscription
    }

    /// The subscribers with work left, protocol by protocol, in the order in which they are served.
    public let subscribers: [Subscriber]

    /// How many closures were running that delay a drain; see ``DelegateHub/delayingDrain(_:)``.
    public internal(set) var delays = 0

    /// How much of the hub's work no subscriber is named for: questions that have come to nobody yet, and
    /// incidents that are being told.
    var ownWork = 0

    /// Whether nothing was left.
    public var isEmpty: Bool { subscribers.isEmpty && delays == 0 && ownWork == 0 }

    /// One line for each subscriber with work left, and one for what is left beside that.
    public var description: String {
      if isEmpty { return "nothing left" }
      var lines = subscribers.map {
        "\($0.subscriber), subscribed at \($0.site): \($0.running) running, \($0.waiting) waiting"
      }
      if delays > 0 { lines.append("delaying the drain: \(delays)") }
      if ownWork > 0 { lines.append("the hub's own work: \(ownWork)") }
      return lines.joined(separator: "\n")
    }
  }
}

extension DelegateHub.Leftovers {
  /// What is left of a hub that has not come to rest.
  ///
  /// It is never empty: with no subscriber to name, all workers are the user's delays or the hub's own.
  ///
  /// - Parameters:
  ///   - workers: how many the hub had when it was found not to be at rest, before anything else was
  ///     looked at; at least one.
  ///   - subscribers: those with work left.
  ///   - delays: how many of the workers delay the drain.
  init(of workers: Int, subscribers: [Subscriber], delays: Int) {
    // What waits for a subscriber is one worker's, until its handlers run.
    let explained = subscribers.reduce(delays) { $0 + max(1, $1.running) }
    self.init(subscribers: subscribers, delays: delays, ownWork: max(0, workers - explained))
  }
}

extension DelegateHub.Leftovers.Subscriber {
  /// What a subscription has left, if anything.
  init?(_ node: SubscriptionNode) {
    let running = node.runningCalls
    let waiting = node.account.waiting
    guard running > 0 || waiting > 0 else { return nil }
    self.init(
      subscriber: node.name(with: node.id), site: node.site.description, running: running,
      waiting: waiting, subscription: .init(node: node))
  }
}

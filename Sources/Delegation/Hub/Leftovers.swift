extension DelegateHub {
  /// The work that was left when ``drain(within:)``, `notifyAndWait`,
  /// ``Subscription/cancelAndWait(within:)`` or ``unsubscribeAndWait(_:within:)`` returned.
  public struct Leftovers: Sendable, CustomStringConvertible {
    /// A subscriber with work left.
    public typealias Subscriber = Statistics.SubscriberStatistics

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

extension DelegateHub {
  /// What has become of a notification when `notifyAndWait` returned.
  ///
  /// Each subscriber that it was addressed to is counted once: as *handled*, *failed* or *missed*. Unless the call has
  /// returned early, because of a window, a deadline, a cancellation or a wait in a handler, the three add up to
  /// ``addressed``.
  ///
  /// ```swift
  /// let outcome = await entries.notifyAndWait { try await $0.write(entry) }
  /// if !outcome.isHandled { logger.error("not written: \(outcome)") }
  /// ```
  public struct Outcome: Sendable, CustomStringConvertible {
    /// How many were subscribed when it was posted, and conform if it was posted to those that do.
    ///
    /// Whether one conforms is found in its turn: until then it is included.
    public let addressed: Int
    /// How many handlers have returned.
    public let handled: Int
    /// How many handlers have thrown.
    public let failed: Int
    /// How many will never handle it: they died or were removed before their turn, dropped it, or an interceptor kept
    /// it away from them.
    public let missed: Int
    /// Who had yet to pass the notification that the call waited for when it returned; empty unless it returned early.
    public let left: Leftovers

    /// Whether somebody was subscribed, and all of them have handled it.
    public var isHandled: Bool { addressed > 0 && handled == addressed }

    /// The counts by name, and who was left if anybody was.
    public var description: String {
      let counts = "addressed \(addressed), handled \(handled), failed \(failed), missed \(missed)"
      return left.isEmpty ? counts : "\(counts); \(left)"
    }

    /// - Parameters:
    ///   - receipt: the notification's.
    ///   - left: the subscribers that seemed to have yet to pass the notification that the call waited for.
    ///   - awaited: the receipt of that one.
    init(_ receipt: Receipt, left: [Leftovers.Subscriber] = [], of awaited: Receipt? = nil) {
      // First, for it may fall: the others never add up to more.
      addressed = receipt.addressed.load(ordering: .sequentiallyConsistent)
      handled = receipt.handled.load(ordering: .relaxed)
      failed = receipt.failed.load(ordering: .relaxed)
      missed = receipt.missed.load(ordering: .relaxed)
      // By the counts: a subscriber that is just passing it is not among them any more, or not yet counted.
      let rest =
        awaited === receipt
        ? addressed - handled - failed - missed : awaited?.outstanding.value ?? 0
      self.left = Leftovers(
        subscribers: rest > 0 ? left : [], ownWork: max(0, rest - left.count))
    }
  }
}

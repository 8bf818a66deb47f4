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

    init(_ receipt: Receipt, left: [Leftovers.Subscriber] = []) {
      // First, for it may fall: the others never add up to more.
      addressed = receipt.addressed.load(ordering: .sequentiallyConsistent)
      handled = receipt.handled.load(ordering: .relaxed)
      failed = receipt.failed.load(ordering: .relaxed)
      missed = receipt.missed.load(ordering: .relaxed)
      self.left = Leftovers(subscribers: left)
    }
  }
}

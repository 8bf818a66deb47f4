internal import Synchronization

extension DelegateHub {
  /// What has become of a notification when ``Delegates/notifyAndWait(within:_:)`` returned.
  ///
  /// Each subscriber that it was addressed to is counted once: `addressed` is the sum of the other counts and of those
  /// that have yet to pass it, of which there are some only if the call returned early.
  public struct Outcome: Sendable, CustomStringConvertible {
    /// How many were subscribed when it was posted.
    public let addressed: Int
    /// How many handlers have returned.
    public let handled: Int
    /// How many handlers have thrown.
    public let failed: Int
    /// For how many it ended without a handler: they died, were removed, dropped it, did not conform, or an interceptor
    /// did not call them.
    public let missed: Int
    /// Who had yet to pass it when the call returned; empty unless it returned early.
    public let left: Leftovers

    /// Whether somebody was subscribed, and all of them have handled it: nobody threw, and nobody missed it.
    public var isHandled: Bool { addressed > 0 && handled == addressed }

    /// The counts by name, and what was left.
    public var description: String {
      "addressed \(addressed), handled \(handled), failed \(failed), missed \(missed); \(left)"
    }

    init(_ receipt: Receipt, left: [Leftovers.Subscriber] = []) {
      addressed = receipt.addressed.load(ordering: .relaxed)
      handled = receipt.handled.load(ordering: .relaxed)
      failed = receipt.failed.load(ordering: .relaxed)
      missed = receipt.missed.load(ordering: .relaxed)
      self.left = Leftovers(subscribers: left)
    }
  }
}

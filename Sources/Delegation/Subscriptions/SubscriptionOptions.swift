extension DelegateHub {
  /// How a hub refers to a subscriber.
  public struct Hold: Sendable, Hashable, CustomStringConvertible {
    private enum Code {
      case weakly
      case strongly
    }

    private let code: Code

    /// The hub does not keep the subscriber alive; when the subscriber dies, the subscription ends.
    public static let weakly = Hold(code: .weakly)

    /// The hub keeps the subscriber alive until it is cancelled, unsubscribed, or the hub is released.
    ///
    /// For proxies of remote objects, which nobody else holds, and for modules that the hub owns.
    public static let strongly = Hold(code: .strongly)

    /// How, in words.
    public var description: String { "\(code)" }
  }
}

/// The `id:` that a user gave for a subscriber.
///
/// Hashing and comparing run user code, so neither happens under a lock: the hash is computed when the
/// identity is made, and the inbox's index uses the hash alone.
///
/// It is an object, so that the index can tell whether a subscription has the very identity that was
/// compared.
final class Identity: Sendable, CustomStringConvertible {
  let hash: Int
  let value: any Hashable & Sendable

  init(_ value: any Hashable & Sendable) {
    self.value = value
    // As `matches` compares: 1 as an Int and 1 as an Int8 are equal.
    hash = AnyHashable(value).hashValue
  }

  var description: String { "\(value)" }

  func matches(_ other: Identity) -> Bool {
    hash == other.hash && AnyHashable(value) == AnyHashable(other.value)
  }
}

/// The options of a subscription; `nil` for those that were not named.
///
/// An object that does not change: most subscriptions have none. If the subscriber subscribes again, a new one has
/// all that holds from then on. The inbox makes it, under its lock, so the order of the calls is that of the numbers.
final class SubscriptionOptions: Sendable {
  /// The subscriber, if the hub keeps it alive.
  let held: (any Sendable)?
  let hold: DelegateHub.Hold?
  let id: Identity?
  let policy: DelegateHub.MailboxPolicy?
  let executor: (any TaskExecutor)?
  /// How often the subscriber had subscribed again before.
  let number: Int

  /// Makes the options of one call of `subscribe`; `nil` if it names none.
  init?(
    of subscriber: any Sendable, id: Identity? = nil, hold: DelegateHub.Hold? = nil,
    policy: DelegateHub.MailboxPolicy? = nil, executor: (any TaskExecutor)? = nil
  ) {
    if id == nil, hold == nil, policy == nil, executor == nil { return nil }
    held = hold == .strongly ? subscriber : nil
    self.hold = hold
    self.id = id
    self.policy = policy
    self.executor = executor
    number = 0
  }

  /// Makes the options that hold once newer ones have been given.
  init(_ newer: SubscriptionOptions, over former: SubscriptionOptions?) {
    held = newer.hold == nil ? former?.held : newer.held
    hold = newer.hold ?? former?.hold
    id = newer.id ?? former?.id
    policy = newer.policy ?? former?.policy
    executor = newer.executor ?? former?.executor
    number = (former?.number ?? 0) + 1
  }
}

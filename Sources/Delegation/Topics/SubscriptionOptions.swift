internal import Synchronization

/// The options of a subscription; each is `nil` if it was not named.
///
/// A class: most subscriptions have no options, and store only `nil`.
final class SubscriptionOptions: Sendable {
  /// The subscriber, which is `Sendable`, if the hub keeps it alive; otherwise `nil`.
  nonisolated(unsafe) let held: AnyObject?
  let hold: DelegateHub.Hold?
  let id: Identity?
  let policy: DelegateHub.MailboxPolicy?
  let executor: (any TaskExecutor)?
  let loop: StreamLoop?

  /// Makes the options of one call of `subscribe`; `nil` if that names none.
  ///
  /// A convenience initializer, because that fails before it allocates.
  convenience init?(
    of subscriber: @autoclosure () -> AnyObject, id: Identity? = nil,
    hold: DelegateHub.Hold? = nil, policy: DelegateHub.MailboxPolicy? = nil,
    executor: (any TaskExecutor)? = nil, loop: StreamLoop? = nil
  ) {
    if id == nil, hold == nil, policy == nil, executor == nil, loop == nil { return nil }
    self.init(hold == .strongly ? subscriber() : nil, hold, id, policy, executor, loop)
  }

  private init(
    _ held: AnyObject?, _ hold: DelegateHub.Hold?, _ id: Identity?,
    _ policy: DelegateHub.MailboxPolicy?, _ executor: (any TaskExecutor)?, _ loop: StreamLoop?
  ) {
    (self.held, self.hold, self.id) = (held, hold, id)
    (self.policy, self.executor, self.loop) = (policy, executor, loop)
  }

  /// Makes a replacement's options: those that are not named stay as they were, except a stream's loop.
  convenience init?(
    _ named: SubscriptionOptions?, over former: SubscriptionOptions?, of subscriber: AnyObject
  ) {
    self.init(
      of: subscriber, id: named?.id ?? former?.id, hold: named?.hold ?? former?.hold,
      policy: named?.policy ?? former?.policy, executor: named?.executor ?? former?.executor,
      loop: named?.loop)
  }

  /// Whether a subscription with the options `present` has all options that these name; ids are not compared.
  func isCovered(by present: SubscriptionOptions?) -> Bool {
    (hold == nil || hold == present?.hold ?? .weakly)
      && (policy == nil || policy == present?.policy ?? .unbounded)
      && (executor == nil || executor.map(executorID) == present?.executor.map(executorID))
  }

  /// Whether a worker on the executor `id` serves the subscription: not a stream's, nor one with another executor.
  func isServed(on id: ObjectIdentifier?) -> Bool {
    loop == nil && (executor == nil || executor.map(Delegation.executorID) == id)
  }

  /// What an ended subscription keeps as long as its handlers run: its id, and a stream's loop.
  ///
  /// A replaced subscription also keeps a subscriber that the hub kept alive: it still handles what a worker has taken.
  func afterEnd(isReplaced: Bool) -> SubscriptionOptions? {
    // `self` only fills the parameter: without `held`, `hold` is not `strongly`.
    SubscriptionOptions(of: held ?? self, id: id, hold: isReplaced ? hold : nil, loop: loop)
  }

  /// Whether an uncalled subscriber's death is no incident: the hub keeps it alive, or it is a stream.
  var isKept: Bool { held != nil || loop != nil }
}

/// The subscribers of one type that one line of the source subscribes to a protocol.
///
/// A subscriber that died uncalled is not reported if another one of its site was called.
final class SubscribeSite: Sendable, CustomStringConvertible {
  typealias Line = (file: StaticString, line: UInt)

  let type: any AnyObject.Type
  private let line: Line
  /// Whether one of the site's subscribers was called.
  let isCalled = Atomic(false)

  init(_ type: any AnyObject.Type, at line: Line) { (self.type, self.line) = (type, line) }

  var description: String { "\(line.file):\(line.line)" }

  func isOf(_ type: any AnyObject.Type, at line: Line) -> Bool {
    type == self.type && line.line == self.line.line
      && line.file.withUTF8Buffer { file in
        // Nearly always both file names are the very same literal.
        self.line.file.withUTF8Buffer {
          $0.baseAddress == file.baseAddress || $0.elementsEqual(file)
        }
      }
  }
}

extension DelegateHub {
  /// Whether a hub keeps a subscriber alive.
  public enum Hold: String, Sendable, CustomStringConvertible {
    /// The hub does not keep the subscriber alive; when the subscriber dies, the subscription ends.
    case weakly

    /// The hub keeps the subscriber alive until its subscription has ended, or the hub is released.
    ///
    /// For proxies of remote objects, which nothing else keeps alive, and for modules that the hub owns.
    case strongly

    /// The case's name.
    public var description: String { rawValue }
  }
}

/// The `id:` that a user gave for a subscriber.
///
/// Hashing and comparing run user code, so neither happens under a lock: the hash is computed when the
/// identity is made, and the topic's index uses the hash alone.
package final class Identity: Sendable, Hashable, CustomStringConvertible {
  let hash: Int
  let value: any Hashable & Sendable
  /// The actor system, if `value` is a distributed actor's id; only an id of the same system equals this one.
  private let system: ObjectIdentifier?

  /// Makes the identity of an id, or copies an identity.
  package init(_ value: any Hashable & Sendable, in system: ObjectIdentifier? = nil) {
    // The types are compared first: most ids are no `Identity`, and a cast costs more.
    let other = type(of: value) as Any.Type == Identity.self ? value as? Identity : nil
    self.value = other?.value ?? value
    self.system = other?.system ?? system
    // Hashed by `AnyHashable`, by which ids are compared: 1 as an `Int` equals 1 as an `Int8`.
    hash = AnyHashable(self.value).hashValue
  }

  package var description: String { "\(value)" }

  /// Whether both ids are equal, and their actor systems.
  package static func == (one: Identity, other: Identity) -> Bool {
    one.system == other.system && one.isMeant(by: other)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// Whether `unsubscribe(id:)` with `other` means this id: an id without a system means distributed actors as well.
  func isMeant(by other: Identity) -> Bool {
    (other.system == nil || other.system == system) && hash == other.hash
      && Self.areEqual(value, other.value)
  }

  /// Whether two values are equal as `AnyHashable`, which is made only if their types differ.
  private static func areEqual<Value: Hashable>(_ one: Value, _ other: any Hashable) -> Bool {
    if let other = other as? Value { return one == other }
    return AnyHashable(one) == AnyHashable(other)
  }
}

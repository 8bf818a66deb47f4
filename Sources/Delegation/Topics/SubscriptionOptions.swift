internal import Synchronization

/// The options of a subscription; `nil` for those that were not named.
///
/// An object that does not change: most subscriptions have none.
final class SubscriptionOptions: Sendable {
  /// The subscriber, if the hub keeps it alive: a `Sendable` one.
  nonisolated(unsafe) let held: AnyObject?
  let hold: DelegateHub.Hold?
  let id: Identity?
  let policy: DelegateHub.MailboxPolicy?
  let executor: (any TaskExecutor)?
  /// The loop of its stream, if it is a stream's.
  let loop: StreamLoop?

  /// Makes the options of one call of `subscribe`; `nil` if it names none.
  ///
  /// A convenience initializer, which fails before it allocates.
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

  /// Makes those of a subscription that takes the place of one that had others: what is not named is as it was.
  convenience init?(
    _ named: SubscriptionOptions?, over former: SubscriptionOptions?, of subscriber: AnyObject
  ) {
    self.init(
      of: subscriber, id: named?.id ?? former?.id, hold: named?.hold ?? former?.hold,
      policy: named?.policy ?? former?.policy, executor: named?.executor ?? former?.executor,
      loop: named?.loop)
  }

  /// Whether all that these name holds for a subscription with others; the ids are not compared.
  func isCovered(by present: SubscriptionOptions?) -> Bool {
    (hold == nil || hold == present?.hold ?? .weakly)
      && (policy == nil || policy == present?.policy ?? .unbounded)
      && (executor == nil || executor.map(executorID) == present?.executor.map(executorID))
  }

  /// Whether a worker that runs there serves the subscription: not a stream's, nor one of another executor.
  func isServed(on id: ObjectIdentifier?) -> Bool {
    loop == nil && (executor == nil || executor.map(Delegation.executorID) == id)
  }

  /// What is kept of an ended one as long as handlers of it run: its name, and what its loops have in hand; of one that
  /// was replaced the subscriber as well, for what a worker has taken is still for that.
  func afterEnd(isReplaced: Bool) -> SubscriptionOptions? {
    SubscriptionOptions(of: held ?? self, id: id, hold: isReplaced ? hold : nil, loop: loop)
  }

  /// Whether the subscriber is known to be wanted, though it was never called: the hub keeps it, or it is a stream.
  var isKept: Bool { held != nil || loop != nil }
}

/// The subscribers of one type that one line of the source subscribes to a protocol.
///
/// By it, an incident tells a subscriber that died unheard from one whose like was called.
final class SubscribeSite: Sendable, CustomStringConvertible {
  /// A line of the source.
  typealias Line = (file: StaticString, line: UInt)

  let type: any AnyObject.Type
  private let line: Line
  /// Whether one of them was called.
  let isCalled = Atomic(false)

  init(_ type: any AnyObject.Type, at line: Line) {
    self.type = type
    self.line = line
  }

  var description: String { "\(line.file):\(line.line)" }

  /// Whether it is that of a type and a line.
  func isOf(_ type: any AnyObject.Type, at line: Line) -> Bool {
    type == self.type && line.line == self.line.line
      && line.file.withUTF8Buffer { file in
        // Nearly always the very same literal.
        self.line.file.withUTF8Buffer {
          $0.baseAddress == file.baseAddress || $0.elementsEqual(file)
        }
      }
  }
}

/// What a stream shares with its loop.
///
/// `@unchecked Sendable`: the variables are used under the lock of the subscription's contents only.
final class StreamLoop: @unchecked Sendable {
  /// One notification that a loop has taken, and not yet handled, and what became of it.
  typealias Hand = (number: Int, receipt: Receipt?, fate: Notification.Fate)

  /// The loop that waits for the next event.
  @exclusivity(unchecked)
  var waiter: Waiter?
  /// What the loop has in hand.
  @exclusivity(unchecked)
  var hand: Hand?
  /// How many events were taken since a loop has waited, or let others go first.
  @exclusivity(unchecked)
  var takenInARow = 0
  /// The hub's core, as long as a replacement waits for what is in hand: a loop keeps it for nothing else.
  @exclusivity(unchecked)
  var owner: (any Sendable)?

  /// The handler that runs in the loop's task, and brings the event; and the loops that wait for it to return: they may
  /// have begun when this one's task was cancelled.
  private struct Taking: Sendable {
    var event: (any Sendable)?
    var late: [Waiter] = []
  }

  private let taking = Lock(Taking())
  /// Whether there is one.
  ///
  /// Set under the lock of the contents, and cleared under this one.
  private let isOpen = Atomic(false)

  /// - Returns: what to wait for before a handler may run; `nil` if none does.
  func waitForTaking() -> Waiter? {
    if !isOpen.load(ordering: .acquiring) { return nil }
    return taking.withLock { taking in
      if !isOpen.load(ordering: .relaxed) { return nil }
      taking.late.append(Waiter())
      return taking.late.last
    }
  }

  /// Lets a handler bring an event.
  ///
  /// Called under the lock of the contents.
  func open() { isOpen.store(true, ordering: .releasing) }

  /// Takes the event of the handler that runs.
  ///
  /// - Returns: whether it is the only one.
  func add(_ event: any Sendable) -> Bool {
    taking.withLock { taking in
      guard isOpen.load(ordering: .relaxed), taking.event == nil else { return false }
      taking.event = event
      return true
    }
  }

  /// Takes out what the handler has brought, which has returned.
  func close() -> (event: (any Sendable)?, late: [Waiter]) {
    taking.withLock { taking in
      isOpen.store(false, ordering: .releasing)
      defer { taking = Taking() }
      return (taking.event, taking.late)
    }
  }
}

extension DelegateHub {
  /// How a hub refers to a subscriber.
  public enum Hold: String, Sendable, CustomStringConvertible {
    /// The hub does not keep the subscriber alive; when the subscriber dies, the subscription ends.
    case weakly

    /// The hub keeps the subscriber alive until it is cancelled, unsubscribed, or the hub is released.
    ///
    /// For proxies of remote objects, which nobody else holds, and for modules that the hub owns.
    case strongly

    /// How, in words.
    public var description: String { rawValue }
  }
}

/// The `id:` that a user gave for a subscriber.
///
/// Hashing and comparing run user code, so neither happens under a lock: the hash is computed when the
/// identity is made, and the topic's index uses the hash alone.
///
/// It is an object, so that the index can tell whether a subscription has the very identity that was
/// compared.
package final class Identity: Sendable, Hashable, CustomStringConvertible {
  let hash: Int
  let value: any Hashable & Sendable
  /// The actor system, if it is the id of a distributed actor: nobody takes its place but one of that system with that id.
  private let system: ObjectIdentifier?

  /// - Parameters:
  ///   - value: the id; if it is an identity, this is another one of the same.
  ///   - system: the actor system, if it is the id of a distributed actor.
  package init(_ value: any Hashable & Sendable, in system: ObjectIdentifier? = nil) {
    // Compared before it is cast: most ids are none, and a cast costs more.
    let other = type(of: value) as Any.Type == Identity.self ? value as? Identity : nil
    self.value = other?.value ?? value
    self.system = other?.system ?? system
    // As it is compared: 1 as an Int and 1 as an Int8 are equal.
    hash = AnyHashable(self.value).hashValue
  }

  package var description: String { "\(value)" }

  /// Whether both are the same subscriber's.
  package static func == (one: Identity, other: Identity) -> Bool {
    one.system == other.system && one.isMeant(by: other)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// Whether it is meant by somebody who unsubscribes: an id alone means distributed actors as well.
  func isMeant(by other: Identity) -> Bool {
    (other.system == nil || other.system == system) && hash == other.hash
      && Self.areEqual(value, other.value)
  }

  /// As `AnyHashable` compares them, which takes longer.
  private static func areEqual<Value: Hashable>(_ one: Value, _ other: any Hashable) -> Bool {
    if let other = other as? Value { return one == other }
    return AnyHashable(one) == AnyHashable(other)
  }
}

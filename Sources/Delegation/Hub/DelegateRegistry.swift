/// The right to subscribe objects to one protocol of a hub, and to unsubscribe them, but not to call or list
/// subscribers.
///
/// A registry keeps the hub alive, but not the object that gave the registry away.
///
/// ```swift
/// worker.observers.subscribe(audit)
/// ```
public struct DelegateRegistry<P>: Sendable, Subscribable {
  let hub: DelegateHub
  /// The protocol that is subscribed to: `P`, or the first one if `P` is a further protocol of `conforming(to:)`.
  let base: Any.Type

  /// This registry.
  public var registry: DelegateRegistry<P> { self }

  func add(
    _ subscriber: P, _ options: SubscriptionOptions?, priority: Int?, at line: SubscribeSite.Line
  ) -> DelegateHub.Subscription {
    if base == P.self {
      return hub.add(subscriber, to: P.self, options, priority: priority, at: line)
    }
    func add<Base>(to type: Base.Type) -> DelegateHub.Subscription {
      guard let conforming = subscriber as? Base else {
        fatalError(
          """
          DelegateRegistry.subscribe(_:) at \(line.file):\(line.line): \
          \(Swift.type(of: subscriber as Any)) does not conform to \(type), which this registry subscribes to; \(P.self) is optional beside it. Let it conform \
          to both.
          """)
      }
      return hub.add(conforming, to: type, options, priority: priority, at: line)
    }
    return _openExistential(base, do: add)
  }

  fileprivate var topic: Topic? { hub.core.topics.find(ObjectIdentifier(base)) }
}

/// Where objects, closures and streams subscribe to one protocol: the owner's ``Delegates``, as `hub[P.self]`, the
/// ``DelegateRegistry`` that the owner gives away, and every type of yours that has a registry.
///
/// In an actor, and in a class of the main actor, the registry is `nonisolated`:
///
///     actor Sensor: Subscribable {
///       private let readings = Events<Int>()
///       nonisolated var registry: DelegateRegistry<any EventReceiver<Int>> { readings.registry }
///     }
public protocol Subscribable<P>: Sendable {
  /// The protocol to subscribe to.
  associatedtype P
  /// The registry by which others subscribe; a type needs nothing else to conform.
  var registry: DelegateRegistry<P> { get }
}

extension Subscribable where P: Sendable {
  /// Subscribes an object.
  ///
  /// As ``DelegateHub/subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  /// The registry of ``Delegates/conforming(to:)`` subscribes to the first protocol, and stops the program if the
  /// object does not conform to it.
  ///
  /// - Parameters:
  ///   - subscriber: an object that conforms to the protocol.
  ///   - priority: higher is asked and served first.
  ///   - id: identifies the subscriber.
  ///   - hold: whether the hub keeps the subscriber alive.
  ///   - mailbox: what to do when notifications come too fast.
  ///   - executor: where its handlers run.
  ///   - fileID: the source file that subscribes, for diagnostics.
  ///   - line: the line that subscribes.
  /// - Returns: the subscription, which need not be kept.
  /// - Complexity: as ``DelegateHub/subscribe(_:to:priority:id:hold:mailbox:on:fileID:line:)``.
  @discardableResult
  public func subscribe(
    _ subscriber: P, priority: Int? = nil, id: (any Hashable & Sendable)? = nil,
    hold: DelegateHub.Hold? = nil, mailbox: DelegateHub.MailboxPolicy? = nil,
    on executor: (any TaskExecutor)? = nil, fileID: StaticString = #fileID, line: UInt = #line
  ) -> DelegateHub.Subscription {
    let options = SubscriptionOptions(
      of: subscriber as AnyObject, id: id.map { Identity($0) }, hold: hold, policy: mailbox,
      executor: handlerExecutor(for: executor))
    return registry.add(subscriber, options, priority: priority, at: (fileID, line))
  }
}

extension Subscribable {
  /// Ends an object's subscription.
  ///
  /// When it returns, no call of the protocol starts on the object any more, as with
  /// ``DelegateHub/Subscription/cancel()``. Does nothing if the object is not subscribed.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Parameter subscriber: the object that subscribed.
  /// - Complexity: as ``DelegateHub/Subscription/cancel()``.
  public func unsubscribe(_ subscriber: P) {
    registry.topic?.terminate(DelegateHub.object(of: subscriber))
  }

  /// Ends an object's subscription and waits until none of its handlers is running, or a deadline comes.
  ///
  /// As ``DelegateHub/unsubscribeAndWait(_:within:)``, for this protocol alone.
  ///
  /// - Parameters:
  ///   - subscriber: the object that subscribed.
  ///   - duration: how long to wait at most; `nil` for no limit.
  /// - Returns: the object's subscriptions with running handlers; empty if there are none.
  /// - Complexity: as ``DelegateHub/Subscription/cancel()``, apart from the waiting.
  @discardableResult
  public func unsubscribeAndWait(
    _ subscriber: P, within duration: Duration? = nil
  ) async -> DelegateHub.Leftovers {
    let topics = [registry.topic].compactMap(\.self)
    return await .init(
      of: registry.hub.end(DelegateHub.object(of: subscriber), in: topics), within: duration)
  }

  /// Ends the subscription with an id.
  ///
  /// As ``DelegateHub/unsubscribe(id:)``, for this protocol alone.
  ///
  /// - Parameter id: the id that was given to `subscribe`.
  /// - Complexity: as ``DelegateHub/unsubscribe(id:)``.
  public func unsubscribe(id: some Hashable & Sendable) {
    registry.topic?.terminate(identifiedBy: Identity(id))
  }

  /// Ends all subscriptions to the protocol.
  ///
  /// When it returns, no call of the protocol starts on the former subscribers any more.
  ///
  /// **Isolation.** Works from any thread, from every handler and from `deinit`.
  ///
  /// - Complexity: O(*n* log *n*) in the protocol's *n* subscriptions.
  public func unsubscribeAll() { registry.topic?.terminateAll() }
}

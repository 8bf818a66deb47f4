/// The calls to the subscribers of one protocol; for the hub's owner.
///
/// ``DelegateHub/subscript(_:)`` gives the calls for one of a hub's protocols; `init` makes a hub for one protocol:
///
/// ```swift
/// actor Worker {
///   private let delegates = Delegates<any WorkerObserver>()
///   nonisolated var observers: DelegateRegistry<any WorkerObserver> { delegates.registry }
///
///   func perform(_ subtask: Subtask) {
///     subtask.run()
///     delegates.notify { $0.worker(self, didPerform: subtask) }  // gone if nobody is there
///   }
/// }
/// ```
///
/// A call reaches the objects that were subscribed when it was made, or what has replaced them. Each call may be made
/// from every handler. All copies of a value share its hub.
@frozen
public struct Delegates<P>: Sendable, Subscribable {
  /// The hub that the subscribers are subscribed to.
  public let hub: DelegateHub

  /// The subscribers that the calls are for.
  @usableFromInline
  let recipients: Recipients<P>

  @inlinable
  init(hub: DelegateHub, recipients: Recipients<P>) {
    (self.hub, self.recipients) = (hub, recipients)
  }

  /// The calls to those subscribers that also conform to a further protocol, which has optional methods.
  ///
  /// These are still subscribers of the first protocol. Notifications to them use the first protocol's order and
  /// mailboxes, so neither protocol's overtake the other's. For a subscriber that does not conform, a notification of
  /// the further protocol counts as ``DelegateHub/Statistics/Counts/passedOver``, and until its turn towards a
  /// mailbox's limit. Questions skip such a subscriber, and do not apply `absent:` to it.
  ///
  /// ```swift
  /// let progress = delegates.conforming(to: WorkerProgressObserver.self)
  /// progress.notify { $0.worker(worker, didReach: 0.5) }
  /// delegates.notify { $0.worker(worker, didPerform: Subtask()) }
  /// ```
  ///
  /// Each call finds out anew whether a subscriber conforms, by a cast. The further protocol need not refine the first
  /// one. Call `conforming(to:)` again for several further protocols.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// - Parameter protocol: the further protocol.
  /// - Returns: the calls. Their registry still subscribes to the first protocol.
  /// - Complexity: O(1).
  public func conforming<Narrower: Sendable>(to protocol: Narrower.Type) -> Delegates<Narrower> {
    Delegates<Narrower>(hub: hub, recipients: recipients.conforming(to: `protocol`))
  }

  /// What to give away: it can subscribe and unsubscribe, and neither call nor list subscribers.
  ///
  /// - Complexity: O(1).
  public var registry: DelegateRegistry<P> { DelegateRegistry(hub: hub, base: recipients.base) }

  // MARK: Looking in

  /// Whether there is no live subscriber; with ``conforming(to:)``, none that conforms.
  ///
  /// Read it to skip work that is not needed if nobody listens. A question needs no such check: its combiner decides,
  /// even with nobody to ask. Reading it also ends the subscriptions of subscribers found dead.
  ///
  /// **Isolation.** Works from any thread and from every handler. The value may be out of date when you read it.
  ///
  /// - Complexity: O(1) if the first subscriber is alive and conforms, and no subscription has begun or ended since the
  ///   last call; otherwise O(*n*) in the protocol's *n* subscriptions.
  public var isEmpty: Bool {
    !hub.snapshot(of: recipients.base).contains {
      $0.isReached(by: recipients.admits, endingIn: nil)
    }
  }

  /// How many subscribers are alive; with ``conforming(to:)``, how many of these conform.
  ///
  /// Reading it also ends the subscriptions of dead subscribers.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public var count: Int {
    hub.snapshot(of: recipients.base).count { $0.isReached(by: recipients.admits, endingIn: nil) }
  }

  /// The live subscribers in the order in which they are served; with ``conforming(to:)``, those that conform.
  ///
  /// The array keeps the subscribers alive.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public var subscribers: [P] {
    hub.snapshot(of: recipients.base).compactMap {
      $0.current.flatMap { recipients.load($0.reference) }
    }
  }

  /// Whether anybody is subscribed, as a sequence of the present value and each change: for work that is to run only
  /// then.
  ///
  /// Each loop gets the present value first. Of changes that come faster than the loop asks it gets the latest, if that
  /// differs from the last value. The sequence ends after ``finish()``, when the loop's task is cancelled, and when the
  /// hub is released: the sequence does not keep the hub alive. A subscriber that has died counts until a call or the
  /// hub's search for dead ones has found it: if nothing is posted, read ``isEmpty`` now and then. With
  /// ``conforming(to:)``, subscribers that do not conform count too.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// ```swift
  /// for await isWanted in readings.demand {
  ///   if isWanted { sensor.start() } else { sensor.stop() }
  /// }
  /// ```
  ///
  /// - Complexity: O(1); O(*n*) in *n* loops when the first subscription comes, when the last ends, and when a loop
  ///   ends.
  public var demand: DelegateHub.Demand {
    DelegateHub.Demand(topic: hub.core.topics.find(recipients.base, owner: hub.core))
  }

  /// What has become of the protocol's notifications and questions so far, without its subscribers one by one.
  ///
  /// The protocol's part of ``DelegateHub/statistics()``, in which
  /// ``DelegateHub/Statistics/ProtocolStatistics/subscribers`` is empty; `nil` only if nobody has ever subscribed.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions, or O(*n* log *n*) if any has begun or ended since the
  ///   last call.
  public var statistics: DelegateHub.Statistics.ProtocolStatistics? {
    hub.core.topics.find(ObjectIdentifier(recipients.base)).map { .init($0, listing: false) }
  }

  // MARK: Ending

  /// Closes the protocol of this hub for good: each subscription ends once its subscriber has handled what was posted
  /// before.
  ///
  /// It returns at once. A subscription for which nothing waits ends at once, as with
  /// ``DelegateHub/Subscription/finish()``. What is posted later is posted to nobody. A subscriber is asked questions
  /// until its subscription has ended; when all have ended, a plain vote is true. A subscription that is made later
  /// gets what is replayed (`Events(replaying:)`), and ends; so does a loop over a stream, and `next` returns `nil`. A
  /// loop over ``demand`` gets false, if its last value was true, and ends.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// - Complexity: O(*n*) in the protocol's *n* subscriptions.
  public func finish() { hub.core.topics.find(recipients.base, owner: hub.core).finish() }
}

extension Delegates where P: Sendable {
  /// Makes the calls for one protocol of a hub, by default of a new hub.
  ///
  /// With `replaying:`, a new subscription first gets the latest notifications in order, at most `count`, even those
  /// posted while nobody was subscribed; then all later ones. A mailbox with a limit gets no more than it may hold. A
  /// subscription that replaces another gets what waits for that one instead. Questions and `forEach` are not replayed.
  ///
  /// Replayed notifications count as addressed; `notifyAndWait` does not wait for subscriptions that are made after it
  /// has posted. The hub keeps the closures of these notifications, with what they capture, until newer notifications
  /// displace them, or the hub is released.
  ///
  /// **Isolation.** Works from any thread and from every handler.
  ///
  /// ```swift
  /// let states = Events<ConnectionState>(replaying: 1)
  /// states.post(.connected)
  /// states.observe { print($0) }  // connected
  /// ```
  ///
  /// - Parameters:
  ///   - protocol: the protocol, as `WorkerObserver.self`.
  ///   - hub: the hub; two `Events` of one type and one hub are one channel.
  ///   - count: how many of the latest notifications, from now on, a new subscription gets first; of several counts for
  ///     one protocol of a hub, the greatest holds for all. 0 or less asks for no replay.
  /// - Complexity: O(1), amortised.
  public init(
    _ protocol: P.Type = P.self, of hub: DelegateHub = DelegateHub(), replaying count: Int = 0
  ) {
    self.init(hub: hub, recipients: Recipients(`protocol`))
    if count > 0 { hub.core.topics.find(`protocol`, owner: hub.core).update { $0.keep(count) } }
  }
}

extension DelegateHub {
  /// The calls of this hub to the subscribers of one protocol.
  ///
  /// **Isolation.** Works from any thread.
  ///
  /// - Parameter protocol: the protocol, as `WorkerObserver.self`.
  /// - Complexity: O(1).
  @inlinable
  public nonisolated subscript<P: Sendable>(_ protocol: P.Type) -> Delegates<P> {
    Delegates(hub: self, recipients: Recipients(`protocol`))
  }

  /// The topic of a protocol; `nil` if nobody is subscribed, and no posts are kept for a replay.
  @usableFromInline
  nonisolated func audience(of type: Any.Type) -> Topic? {
    guard let topic = core.topics.find(ObjectIdentifier(type)),
      topic.isNeeded.load(ordering: .acquiring)
    else { return nil }
    return topic
  }

  @usableFromInline
  nonisolated func snapshot(of type: Any.Type) -> [SubscriptionNode] {
    audience(of: type)?.snapshot() ?? []
  }
}

extension DelegateHub {
  /// Whether anybody is subscribed to a protocol: the present value first, then each change; see ``Delegates/demand``.
  public struct Demand: AsyncSequence, Sendable {
    let topic: Topic

    /// An iterator, which waits until the value changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let topic: Topic
      fileprivate var last: Bool?

      /// The next value; `nil` once the protocol is finished, the hub released, or the task cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Bool? {
        while !Task.isCancelled {
          let (waiter, last) = (Waiter(), last)
          let (present, isOver) = topic.state.withLock { index in
            if index.isWanted == last, !index.isClosed { index.addWatcher(waiter) }
            return (index.isWanted, index.isClosed)
          }
          if present != last, !isOver || last != nil {
            self.last = present
            return present
          }
          if isOver { break }
          _ = await waiter.wait(until: nil)
        }
        return nil
      }
    }

    /// Makes an iterator, which begins with the present value.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(topic: topic) }
  }
}

extension DelegateHub {
  /// Code that runs around handlers: to trace them, to measure them, to bind task-locals, or to keep them from running.
  ///
  /// A hub calls its interceptors for each handler of each call, except a `forEach` that awaits nothing; the first
  /// interceptor is the outermost. For a stream, an interceptor runs until the loop gets the event, and not around the
  /// loop's body.
  ///
  /// **Order.** An interceptor runs after the one before it has called `next`, and goes on when the handler and the
  /// interceptors after it have returned. The caller of a question gets the answer when all interceptors have returned.
  ///
  /// **Isolation.** An interceptor runs on the hub's executor or the subscription's, on no actor, even if the handler
  /// runs on the main actor; around a handler of `forEach`, where the caller of `forEach` runs. Only the handler, and
  /// the tasks that it starts, see the task-locals that an interceptor binds around `next`. The interceptor sees the
  /// task-locals of ``Configuration/propagating``, and for questions all of the caller's.
  ///
  /// **Re-entrancy.** An interceptor may call the hub. If it waits, as by ``DelegateHub/drain(within:)``, its handler
  /// counts as waiting. If it calls `next` in a hub's ``DelegateHub/delayingDrain(fileID:line:_:)``, a handler that
  /// drains that hub waits for ever.
  ///
  /// **Cancellation.** An interceptor is cancelled when its handler is. If an interceptor blocks or never returns, its
  /// handler is reported as *slow* and *late*, and no other handler is harmed.
  ///
  /// **Lifetime.** A running handler keeps its subscriber alive; an interceptor does not. So `next` checks whether the
  /// subscriber has died. At a deadline, a subscriber for which an interceptor runs is late.
  ///
  /// With interceptors, a question whose closure awaits nothing is asked like one whose closure awaits.
  ///
  /// ```swift
  /// struct Timing: DelegateHub.Interceptor {
  ///   let clock = ContinuousClock()
  ///
  ///   func intercept(
  ///     _ call: DelegateHub.HandlerCall,
  ///     next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ///   ) async -> DelegateHub.HandlerOutcome {
  ///     let start = clock.now
  ///     let outcome = await next()
  ///     print("\(call.subscriber) \(outcome) in \(call.call) after \(clock.now - start)")
  ///     return outcome
  ///   }
  /// }
  ///
  /// let hub = DelegateHub(.init(interceptors: [Timing()]))
  /// ```
  public protocol Interceptor: Sendable {
    /// Runs around a handler, which it calls with `next`.
    ///
    /// If the interceptor does not call `next`, the handler does not run. A question then counts what `absent:` says;
    /// without `absent:`, and in `collect`, it leaves the subscriber out. A notification counts as passed over. A
    /// second call of `next` runs nothing, and returns what the first call did. `next` does not call the handler if the
    /// subscription has ended or the outcome is decided.
    ///
    /// - Parameters:
    ///   - call: the handler that is about to run.
    ///   - next: runs the interceptors after this one, and the handler.
    /// - Returns: what became of the handler, for the interceptor before this one. What the handler returned or
    ///   threw goes to the caller untouched, whatever is returned here.
    nonisolated(nonsending) func intercept(
      _ call: HandlerCall, next: nonisolated(nonsending) () async -> HandlerOutcome
    ) async -> HandlerOutcome
  }

  /// A handler that is about to run, for an ``Interceptor``.
  ///
  /// This value keeps no subscriber alive whose subscription has ended.
  public struct HandlerCall: Sendable {
    /// The kind of call.
    public let call: Incident.Call
    /// The subscription.
    public let subscription: Subscription
    /// How long it has been since the notification was posted, by the hub's clock; `nil` for a question.
    public let waited: Duration?
    let identity: Identity?

    init(_ call: CallKind, on node: SubscriptionNode, waited: Duration? = nil) {
      (self.call, subscription, identity, self.waited) = (call, .init(node: node), node.id, waited)
    }

    /// The protocol's name.
    public var `protocol`: String { subscription.node.topic.name }
    /// The subscriber's type, and its id if it has one; the text is made each time you read it.
    public var subscriber: String { subscription.node.name(with: identity) }
    /// The subscriber's id, if it has one.
    public var id: (any Hashable & Sendable)? { identity?.value }
  }

  /// What became of a handler, for an ``Interceptor``.
  public enum HandlerOutcome: Sendable, Equatable, CustomStringConvertible {
    /// The handler returned.
    case returned
    /// The handler was not called: an interceptor did not call `next`, the subscriber had died or does not conform to
    /// what `conforming(to:)` names, its subscription had ended, or the question was decided.
    case notCalled
    /// The handler threw an error.
    case threw(any Error)

    /// Whether the handler was called.
    public var isCalled: Bool { if case .notCalled = self { false } else { true } }
    /// What the handler threw, if it threw.
    public var error: (any Error)? { if case .threw(let error) = self { error } else { nil } }

    /// What became of the handler, in words.
    public var description: String {
      error.map { "threw \(String(reflecting: $0))" } ?? (isCalled ? "returned" : "was not called")
    }

    /// Whether two outcomes are equal; errors are compared by their texts.
    ///
    /// - Parameters:
    ///   - lhs: an outcome.
    ///   - rhs: another one.
    /// - Returns: whether they are equal.
    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.description == rhs.description }
  }
}

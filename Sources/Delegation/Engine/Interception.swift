/// The interceptors of a hub, within which handlers run.
///
/// Handlers of notifications are wrapped when posted, and questions have a worker path of their own. So without
/// interceptors there is no check for each handler.
@usableFromInline
final class Interception: Sendable {
  private let interceptors: [any DelegateHub.Interceptor]
  let now: @Sendable () -> Duration

  /// - Returns: `nil` if there are no interceptors.
  init?(_ interceptors: [any DelegateHub.Interceptor], now: @escaping @Sendable () -> Duration) {
    if interceptors.isEmpty { return nil }
    (self.interceptors, self.now) = (interceptors, now)
  }

  @discardableResult
  nonisolated(nonsending) func run(
    _ call: DelegateHub.HandlerCall,
    _ handler: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    let context = HandlerContext.binding.wrappedValue
    return await run(call, from: 0) { await self.run(handler, in: context, on: #isolation) }
  }

  /// Runs a handler within the interceptors from an index on.
  nonisolated(nonsending) private func run(
    _ call: DelegateHub.HandlerCall, from index: Int,
    _ handler: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    guard index < interceptors.count else { return await handler() }
    var former: DelegateHub.HandlerOutcome?
    return await interceptors[index].intercept(call) {
      if let former { return former }
      let outcome = await run(call, from: index + 1, handler)
      former = outcome
      return outcome
    }
  }

  /// Runs a handler in its own context, because an interceptor may have bound another by `delayingDrain`.
  private func run(
    _ handler: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome,
    in context: HandlerContext?, on actor: isolated (any Actor)?
  ) async -> DelegateHub.HandlerOutcome {
    if HandlerContext.binding.wrappedValue?.worker === context?.worker { return await handler() }
    return await HandlerContext.binding.withValue(context) {
      // The capture makes the closure run on the actor.
      _ = actor
      return await handler()
    }
  }

  /// Runs a notification's handler within interceptors.
  ///
  /// If they do not call the handler, the notification is passed over, or expired if the subscription has ended.
  nonisolated(nonsending) fileprivate func deliver(
    in call: CallKind, postedAt time: Duration,
    _ handle: nonisolated(nonsending) () async throws -> Notification.Fate
  ) async throws -> Notification.Fate {
    guard let node = HandlerContext.current?.node else { return try await handle() }
    var result: Result<Notification.Fate, any Error>?
    await run(DelegateHub.HandlerCall(call, on: node, waited: now() - time)) {
      guard node.mayHandle else { return .notCalled }
      do {
        var fate = try await handle()
        if let worker = HandlerContext.binding.wrappedValue?.worker { fate = worker.takeFate(fate) }
        result = .success(fate)
        return fate == .handled ? .returned : .notCalled
      } catch {
        result = .failure(error)
        return .threw(error)
      }
    }
    return try result?.get() ?? (node.mayHandle ? .passedOver : .expired)
  }
}

extension Notification.Handler {
  /// This handler within interceptors, for a notification that is posted now.
  func intercepted(by interception: Interception, in call: CallKind) -> Self {
    let time = interception.now()
    return .asynchronous { subscriber in
      try await interception.deliver(in: call, postedAt: time) { try await self(subscriber) }
    }
  }
}

/// The hub's outermost interceptor, which reports handlers that run for longer than `limit` while they still run.
///
/// Each handler has an alarm of its own, which is cancelled when the handler returns.
struct SlowWatch: DelegateHub.Interceptor {
  let limit: Duration
  let deadlines: DeadlineQueue
  let propagating: [TaskLocalPropagation]

  nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    guard let deadline = deadlines.deadline(after: limit) else { return await next() }
    let context = propagating.map { $0.capture() }
    // The alarm does not capture the deadline, whose queue retains the alarm.
    let cancelAlarm = deadline.schedule {
      [now = deadlines.now, start = deadline.start, time = deadline.time] in
      // With a clock that cannot sleep, the alarm comes at once, and no handler is reported.
      guard now() >= time else { return }
      call.subscription.node.report(
        .slow, in: call.call, since: start, context: context, with: call.identity)
    }
    defer { cancelAlarm() }
    return await next()
  }
}

/// Notices handlers that run for longer than they should, while they run: the hub's outermost interceptor.
///
/// Each handler has an alarm of its own, which is cancelled when it returns.
struct SlowWatch: DelegateHub.Interceptor {
  let limit: Duration
  let deadlines: DeadlineQueue
  /// What incidents carry from their calls.
  let propagating: [TaskLocalPropagation]

  nonisolated(nonsending) func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    guard let deadline = deadlines.deadline(after: limit) else { return await next() }
    let context = propagating.map { $0.capture() }
    // Without the deadline, whose queue keeps the alarm.
    let cancelAlarm = deadline.schedule {
      [now = deadlines.now, start = deadline.start, time = deadline.time] in
      // By a clock that cannot sleep nobody is slow.
      guard now() >= time else { return }
      call.subscription.node.report(
        .slow, in: call.call, since: start, context: context, with: call.identity)
    }
    defer { cancelAlarm() }
    return await next()
  }
}

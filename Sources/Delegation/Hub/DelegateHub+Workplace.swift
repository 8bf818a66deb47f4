extension DelegateHub: Workplace {
  @usableFromInline
  nonisolated var activity: Activity { inbox.activity }

  /// Whether the current task prefers an executor that is neither the hub's nor the global one.
  ///
  /// The hub's actor would run on that executor, for all callers, and so would handlers without an executor
  /// of their own. So calls of such a task are made again with ``ownExecutor`` as the preference: if the
  /// caller's executor is busy, only that caller waits.
  @usableFromInline
  nonisolated var isCalledOnOtherExecutor: Bool {
    withUnsafeCurrentTask { task in
      guard let preferred = task?.unownedTaskExecutor else { return false }
      return preferred != globalConcurrentExecutor.asUnownedTaskExecutor()
        && preferred != executor?.asUnownedTaskExecutor()
        && preferred != configuration.executor?.asUnownedTaskExecutor()
    }
  }

  /// Whether the current task prefers the hub's executor, and so runs there.
  nonisolated var isCalledOnOwnExecutor: Bool {
    guard let executor else { return false }
    return withUnsafeCurrentTask { task in
      task?.unownedTaskExecutor == executor.asUnownedTaskExecutor()
    }
  }

  /// The subscriptions of a protocol, in order; the actor is entered only if one has changed.
  @inlinable
  @inline(__always)
  nonisolated func subscriptions(of key: ObjectIdentifier) async -> [SubscriptionNode] {
    if let published = publishedSnapshot(of: key) { return published }
    return await changedSubscriptions(of: key)
  }

  /// Enters the actor, for a caller that may prefer another executor.
  @usableFromInline
  nonisolated func changedSubscriptions(of key: ObjectIdentifier) async -> [SubscriptionNode] {
    guard isCalledOnOtherExecutor else { return await snapshot(of: key) }
    return await withTaskExecutorPreference(ownExecutor) { await self.snapshot(of: key) }
  }

  /// Waits for a goal, for a caller that may prefer another executor.
  ///
  /// Whoever reaches the goal would call `enqueue` of the caller's executor, which may block or run the
  /// caller at once.
  nonisolated(nonsending) func wait(for goal: WaitGoal, until deadline: Deadline?) async -> Bool {
    guard isCalledOnOtherExecutor else { return await goal.wait(until: deadline) }
    return await withTaskExecutorPreference(ownExecutor) { @concurrent in
      await goal.wait(until: deadline)
    }
  }

  /// Copies of all rosters, for a caller that may prefer another executor.
  nonisolated func allSubscriptions() async -> [TopicRoster.Overview] {
    guard isCalledOnOtherExecutor else { return await overview() }
    return await withTaskExecutorPreference(ownExecutor) {
      await self.allSubscriptions()
    }
  }
}

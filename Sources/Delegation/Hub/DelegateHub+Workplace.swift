extension DelegateHub: Workplace {
  @usableFromInline
  nonisolated var activity: Activity { inbox.activity }

  /// Whether the current task prefers an executor that is neither the hub's nor everybody's.
  ///
  /// The hub's actor would be run there, for everybody, and so would handlers without an executor of
  /// their own. So calls of such a task are made anew with ``ownExecutor`` as their preference: whatever
  /// keeps the caller's executor busy then keeps the caller alone.
  @usableFromInline
  nonisolated var isCalledFromElsewhere: Bool {
    withUnsafeCurrentTask { task in
      guard let preferred = task?.unownedTaskExecutor else { return false }
      return preferred != globalConcurrentExecutor.asUnownedTaskExecutor()
        && preferred != executor?.asUnownedTaskExecutor()
        && preferred != configuration.executor?.asUnownedTaskExecutor()
    }
  }

  /// The subscriptions of a protocol, in order, whatever executor the caller prefers.
  @usableFromInline
  nonisolated func subscriptions(of key: ObjectIdentifier) async -> [SubscriptionNode] {
    guard isCalledFromElsewhere else { return await snapshot(of: key) }
    return await withTaskExecutorPreference(ownExecutor) {
      await self.subscriptions(of: key)
    }
  }

  /// Everything there is to look into, whatever executor the caller prefers.
  nonisolated func allSubscriptions() async -> [TopicRoster.Overview] {
    guard isCalledFromElsewhere else { return await overview() }
    return await withTaskExecutorPreference(ownExecutor) {
      await self.allSubscriptions()
    }
  }
}

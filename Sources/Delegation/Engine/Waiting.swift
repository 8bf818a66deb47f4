extension WaitGoal {
  /// Waits until the goal is reached, even if the caller's task is cancelled.
  nonisolated(nonsending) func wait() async {
    _ = await wait { await $0.wait() }
  }

  /// Waits until the goal is reached, the caller's task is cancelled, or the deadline has come.
  ///
  /// - Parameter deadline: the deadline; `nil` for none.
  /// - Returns: whether the goal was reached, and nothing was excused.
  nonisolated(nonsending) func wait(until deadline: Deadline?) async -> Bool {
    await wait { waiter in
      // Most need not wait, and set no alarm.
      let cancelAlarm = waiter.outcome == nil ? deadline?.schedule { waiter.resume(false) } : nil
      defer { cancelAlarm?() }
      return await withTaskCancellationHandler {
        await waiter.wait()
      } onCancel: {
        waiter.resume(false)
      }
    }
  }

  nonisolated(nonsending) private func wait(
    _ body: nonisolated(nonsending) (Waiter) async -> Bool
  ) async -> Bool {
    let number = HandlerContext.current.flatMap { context in
      WaitGraph.shared.withLock { $0.add(self, in: context) }
    }
    let waiter =
      number.map { number in
        Waiter { WaitGraph.shared.withLock { $0.countExcused(by: number) } }
      } ?? Waiter()
    update { $0.add(waiter) }
    let isReached = await body(waiter)
    if !isReached { update { $0.remove(waiter) } }
    if let number { _ = WaitGraph.shared.withLock { $0.remove(number) } }
    return isReached && number == nil
  }
}

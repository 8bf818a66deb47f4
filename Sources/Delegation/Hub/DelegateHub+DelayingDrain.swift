extension DelegateHub {
  /// Runs a closure that ``drain(within:)`` waits for, as it waits for handlers.
  ///
  /// For work that does not run in a handler, such as processing a request that will call the hub.
  /// The hub is not idle until the closure has returned.
  ///
  /// **Order.** A drain that begins after this call waits for its end; so does one that began before, if
  /// the hub has not been idle since.
  ///
  /// **Isolation.** The closure runs in the caller's task, on the caller's actor. Works from every handler.
  ///
  /// **Re-entrancy.** A drain that is called from the closure, or from a handler of a call that the
  /// closure makes, waits for everything except the closure. If two closures drain, the one that
  /// drains last does not wait for the other. A drain in a task that the closure starts and awaits
  /// does not wait for the closure either. A drain in a detached task that the closure awaits waits
  /// for ever.
  ///
  /// **Cancellation.** It ignores cancellation itself.
  ///
  /// **Errors.** What the closure throws is rethrown with its type.
  ///
  /// ```swift
  /// try await hub.delayingDrain {
  ///   let response = try await answer(request)
  ///   hub.notify(RequestObserver.self) { $0.server(server, didAnswer: request) }
  ///   try await connection.send(response)
  /// }
  /// ```
  ///
  /// - Parameter body: what to do.
  /// - Returns: what it returns.
  /// - Throws: what it throws.
  /// - Complexity: O(1), apart from the closure.
  public nonisolated(nonsending) func delayingDrain<R, E>(
    _ body: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    let worker = beginAsking()
    activity.delays.wrappingAdd(1, ordering: .relaxed)
    defer {
      worker.end()
      activity.delays.wrappingSubtract(1, ordering: .relaxed)
      endAsking(worker)
    }
    let context = HandlerContext(worker: worker, call: worker.begin(), node: nil)
    let result: Result<R, E> = await HandlerContext.binding.withValue(context) {
      do throws(E) {
        return .success(try await body())
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}

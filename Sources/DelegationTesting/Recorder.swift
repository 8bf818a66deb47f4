/// Keeps a history of what happened, from any thread, that a test compares as a whole.
///
/// ```swift
/// #expect(recorder.events == ["Alice", "Bob"])
/// ```
///
/// **Order.** Events of one thread are in the order of that thread, and all events are in one order.
///
/// **Isolation.** Every method may be called from any thread and returns without waiting, except
/// ``events(atLeast:)``.
public final class Recorder<Event: Sendable>: Sendable {
  private struct State: Watched {
    var events: [Event] = []
    var watchers = Watchers<[Event]>()
    var reached: Int { events.count }
    var report: [Event] { events }
  }

  private let state = Guarded(State())

  /// Makes a recorder with an empty history.
  public init() {}

  /// Appends an event to the history.
  ///
  /// - Parameter event: what happened.
  /// - Complexity: O(1), amortised. O(*n*) in the *n* events if a result of ``events`` is still retained, or if a task
  ///   gets what it has waited for.
  public func record(_ event: Event) {
    let (ready, events) = state.withLock { state in
      state.events.append(event)
      let ready = state.watchers.removeAll(reaching: state.events.count)
      return (ready, ready.isEmpty ? [] : state.events)
    }
    for continuation in ready { continuation.resume(returning: events) }
  }

  /// The events so far, oldest first.
  public var events: [Event] { state.withLock { $0.events } }

  /// How many events there are.
  public var count: Int { state.withLock { $0.events.count } }

  /// Forgets the history, for a test with several acts.
  ///
  /// - Returns: the events that there were.
  @discardableResult
  public func clear() -> [Event] {
    state.withLock { state in
      let events = state.events
      state.events = []
      return events
    }
  }

  /// Waits until there are that many events.
  ///
  /// For tests of code that runs on threads of its own. With a ``ManualExecutor`` you do not need this.
  ///
  /// **Cancellation.** If the task is cancelled, it returns at once with the events that there are.
  ///
  /// - Parameter count: how many events to wait for.
  /// - Returns: the events at the moment when there were enough, even if the history has been cleared since.
  @discardableResult
  public func events(atLeast count: Int) async -> [Event] {
    await state.wait(until: count)
  }
}

import Synchronization

/// Keeps a history of what happened, in order.
final class Recorder<Event: Sendable>: Sendable {
  private let events = Mutex<[Event]>([])

  /// All events so far.
  var history: [Event] { events.withLock { $0 } }

  /// Appends an event.
  func record(_ event: Event) {
    events.withLock { $0.append(event) }
  }
}

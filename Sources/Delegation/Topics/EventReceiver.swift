/// An object that receives events, as a subscriber of ``Events``.
///
/// To receive events in a closure or a stream, you need no such type: see
/// ``Subscribable/observe(priority:id:mailbox:on:fileID:line:_:)`` and
/// ``Subscribable/stream(id:priority:mailbox:fileID:line:)``.
public protocol EventReceiver<Event>: AnyObject, Sendable {
  /// The type of the events.
  associatedtype Event: Sendable

  /// Receives an event.
  ///
  /// A thrown error is reported to ``DelegateHub/Configuration/onIncident``.
  ///
  /// - Parameter event: the event.
  /// - Throws: the reason why the receiver failed.
  func receive(_ event: Event) async throws
}

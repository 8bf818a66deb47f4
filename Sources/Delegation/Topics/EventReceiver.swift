/// Something that receives events: what ``Events`` calls.
///
/// An object can conform to it and subscribe as to any protocol. Closures and streams need no type of their own:
/// ``Subscribable/observe(priority:id:mailbox:on:fileID:line:_:)`` and
/// ``Subscribable/stream(id:priority:mailbox:fileID:line:)``.
public protocol EventReceiver<Event>: AnyObject, Sendable {
  /// What it receives.
  associatedtype Event: Sendable

  /// Receives an event.
  ///
  /// What it throws is reported to ``DelegateHub/Configuration/onIncident``.
  ///
  /// - Parameter event: the event.
  /// - Throws: what the receiver has failed at.
  func receive(_ event: Event) async throws
}

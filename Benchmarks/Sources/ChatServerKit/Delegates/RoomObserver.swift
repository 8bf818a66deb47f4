/// Somebody who is told what happens in the rooms, in its order.
///
/// What it throws is logged, and counted as failed.
protocol RoomObserver: AnyObject, Sendable {
  func didPost(_ message: Message) throws
  func didRefuse(_ draft: Draft, because reason: String) throws
  func room(_ room: String, didAdmit user: User) throws
  func room(_ room: String, didDismiss user: User) throws
  /// The last one has left the room; what comes next under its name is another room.
  func didClose(_ room: String) throws
}

extension RoomObserver {
  func didPost(_ message: Message) throws {}
  func didRefuse(_ draft: Draft, because reason: String) throws {}
  func room(_ room: String, didAdmit user: User) throws {}
  func room(_ room: String, didDismiss user: User) throws {}
  func didClose(_ room: String) throws {}
}

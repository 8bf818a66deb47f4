/// Somebody who is told what happens in the rooms, in its order.
protocol RoomObserver: AnyObject, Sendable {
  func didPost(_ message: Message)
  func didRefuse(_ draft: Draft, because reason: String)
  func room(_ room: String, didAdmit user: User)
  func room(_ room: String, didDismiss user: User)
  /// The last one has left the room; what comes next under its name is another room.
  func didClose(_ room: String)
}

extension RoomObserver {
  func didPost(_ message: Message) {}
  func didRefuse(_ draft: Draft, because reason: String) {}
  func room(_ room: String, didAdmit user: User) {}
  func room(_ room: String, didDismiss user: User) {}
  func didClose(_ room: String) {}
}

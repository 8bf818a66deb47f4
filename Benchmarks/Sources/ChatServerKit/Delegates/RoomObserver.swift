/// Somebody who is told what happens in the rooms, in its order.
protocol RoomObserver: AnyObject, Sendable {
  func didPost(_ message: Message)
  func didRefuse(_ draft: Draft, because reason: String)
  func room(_ room: String, didAdmit user: User)
  func room(_ room: String, didDismiss user: User)
}

extension RoomObserver {
  func didPost(_ message: Message) {}
  func didRefuse(_ draft: Draft, because reason: String) {}
  func room(_ room: String, didAdmit user: User) {}
  func room(_ room: String, didDismiss user: User) {}
}

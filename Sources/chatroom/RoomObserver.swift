/// An observer is told what became of each message.
///
/// It is told in the order in which the room decided, one message after another, at its own speed: it need not be
/// quick, and the room does not wait for it.
protocol RoomObserver: AnyObject, Sendable {
  func room(_ room: Room, didDeliver message: Message) async
  func room(_ room: Room, didVeto message: Message, for veto: Veto) async
}

/// Somebody who is told what became of each message.
///
/// Each observer is told in the order in which the room decided, one message after another, at its own
/// speed: none has to be quick, and the room waits for none.
protocol RoomObserver: AnyObject, Sendable {
  func room(_ room: Room, didDeliver message: Message) async
  func room(_ room: Room, didVeto message: Message, for veto: Veto) async
}

/// A room: what is said in it has one order.
///
/// The order is made here: a message gets its number and goes to the members and to the observers in one
/// step, which takes no waiting, for telling does not wait for anybody.
actor Room {
  let name: String
  /// Which room of that name it is: no two of a server have the same.
  let id: Int
  nonisolated let audience: any Audience
  private let engine: any Engine
  private var last = 0
  /// How many bytes each member has been sent that was here from the beginning.
  private var bytes = 0

  init(name: String, id: Int, engine: any Engine) {
    self.name = name
    self.id = id
    self.engine = engine
    audience = engine.makeAudience(of: name)
  }

  /// Lets a member in.
  ///
  /// - Returns: the number of the last message before its time.
  func admit(_ member: any RoomMember, as user: User) -> Int {
    // Before anything can come, so that what comes late from before is not taken for it.
    member.expect(last + 1, after: bytes, in: id)
    audience.add(member)
    engine.tell { try $0.room(self.name, didAdmit: user) }
    return last
  }

  func dismiss(_ member: any RoomMember, as user: User) {
    audience.remove(member)
    engine.tell { try $0.room(self.name, didDismiss: user) }
  }

  /// Says something.
  ///
  /// - Returns: its number.
  func post(_ text: String, by sender: User) -> Int {
    last += 1
    let message = Message(
      room: name, number: last, sender: sender.name, text: text, roomID: id, after: bytes)
    bytes = message.end
    audience.post(message)
    engine.tell { try $0.didPost(message) }
    return last
  }
}

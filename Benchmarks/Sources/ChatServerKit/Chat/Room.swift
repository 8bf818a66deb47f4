/// A room: what is said in it has one order.
///
/// The order is made here: a message gets its number and goes to the members and to the observers in one
/// step, which takes no waiting, for telling does not wait for anybody.
actor Room {
  let name: String
  nonisolated let audience: any Audience
  private let engine: any Engine
  private var last = 0

  init(name: String, engine: any Engine) {
    self.name = name
    self.engine = engine
    audience = engine.makeAudience()
  }

  /// Lets a member in.
  ///
  /// - Returns: the number of the last message before its time.
  func admit(_ member: any RoomMember, as user: User) -> Int {
    audience.add(member)
    engine.tell { $0.room(self.name, didAdmit: user) }
    return last
  }

  func dismiss(_ member: any RoomMember, as user: User) {
    audience.remove(member)
    engine.tell { $0.room(self.name, didDismiss: user) }
  }

  /// Says something.
  ///
  /// - Returns: its number.
  func post(_ text: String, by sender: User) -> Int {
    last += 1
    let message = Message(room: name, number: last, sender: sender.name, text: text)
    audience.post(message)
    engine.tell { $0.didPost(message) }
    return last
  }
}

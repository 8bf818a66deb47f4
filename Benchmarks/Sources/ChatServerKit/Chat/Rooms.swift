/// The rooms that somebody is in, or is about to be in.
///
/// A room ends when the last one has left it: what is kept for it is given back, and the next one to come
/// finds a new room. So nobody can use up the rooms but by staying in them; and guests, who may come as often as they
/// like, can use up three quarters of them, and members all but one in sixteen, which are the administrators'.
actor Rooms {
  private struct Entry {
    let room: Room
    /// Those that have entered and not left: at least 1.
    var inside: Int
  }

  private let engine: any Engine
  private let limit: Int
  private var entries: [String: Entry] = [:]
  /// How many rooms there have been.
  private var count = 0

  init(engine: any Engine, limit: Int) {
    self.engine = engine
    self.limit = limit
  }

  /// The room of a name, made if need be.
  ///
  /// It stays until each who has entered has left.
  ///
  /// - Parameters:
  ///   - name: the room's name.
  ///   - role: of the one who enters.
  /// - Returns: the room; `nil` if there are too many.
  func enter(_ name: String, as role: User.Role) -> Room? {
    if let room = entries[name]?.room {
      entries[name]?.inside += 1
      return room
    }
    let kept =
      switch role {
      case .guest: limit / 4
      case .member: limit / 16
      case .administrator: 0
      }
    guard entries.count < limit - kept else { return nil }
    count += 1
    let room = Room(name: name, id: count, engine: engine)
    entries[name] = Entry(room: room, inside: 1)
    return room
  }

  /// Gives up a room that was entered, after its member has been dismissed.
  func leave(_ room: Room) {
    guard let entry = entries[room.name], entry.room === room else { return }
    guard entry.inside == 1 else {
      entries[room.name]?.inside -= 1
      return
    }
    entries[room.name] = nil
    // Here, so that it is told before anything of the next room of that name.
    engine.tell { try $0.didClose(room.name) }
    room.audience.close()
  }
}

/// The rooms that somebody has ever been in.
actor Rooms {
  private let engine: any Engine
  private let limit: Int
  private var rooms: [String: Room] = [:]

  init(engine: any Engine, limit: Int) {
    self.engine = engine
    self.limit = limit
  }

  /// The room of a name, made if need be; `nil` if there are too many.
  func room(named name: String) -> Room? {
    if let room = rooms[name] { return room }
    guard rooms.count < limit else { return nil }
    let room = Room(name: name, engine: engine)
    rooms[name] = room
    return room
  }
}

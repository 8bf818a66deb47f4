/// Somebody who may know who is in a room.
protocol PresenceKeeper: AnyObject, Sendable {
  func people(in room: String) async -> [String]
}

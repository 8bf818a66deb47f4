/// Somebody who may know who is in a room.
///
/// All are asked at once; one that does not answer in time knows nobody.
protocol PresenceKeeper: AnyObject, Sendable {
  func people(in room: String) async -> [String]
}

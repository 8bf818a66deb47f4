/// Somebody who is asked before a user is let into a room, or told from outside who is in it.
///
/// One "no" denies. Who does not answer in time says "no".
protocol JoinRule: AnyObject, Sendable {
  func mayJoin(_ room: String, _ user: User) async -> Bool
}

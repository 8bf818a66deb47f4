/// Somebody who is asked before a user is let into a room, or told from outside who is in it.
///
/// One "no" denies. Who does not answer in time says "no", and so does one that was there once and is missing: while
/// a rule is exchanged, nobody gets in.
protocol JoinRule: ServerExtension {
  func mayJoin(_ room: String, _ user: User) async -> Bool
}

extension JoinRule {
  func verdict(on room: String, _ user: User) async -> Verdict {
    await mayJoin(room, user) ? .agrees : .objects(because: "\(room) does not let you in")
  }
}

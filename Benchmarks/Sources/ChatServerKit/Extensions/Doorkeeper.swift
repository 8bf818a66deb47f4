/// Keeps guests out of rooms whose names begin with `staff`.
final class Doorkeeper: ServerExtension, JoinRule {
  let name = "doorkeeper"
  let options = ExtensionOptions()

  func mayJoin(_ room: String, _ user: User) async -> Bool {
    !room.hasPrefix("staff") || user.role != .guest
  }
}

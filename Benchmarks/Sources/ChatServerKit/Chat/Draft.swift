/// What somebody wants to say in a room.
struct Draft: Sendable {
  let room: String
  let sender: User
  /// Which connection it came by.
  let connection: Int
  let text: String
}

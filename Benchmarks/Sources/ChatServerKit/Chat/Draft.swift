/// What somebody wants to say in a room.
struct Draft: Sendable {
  let room: String
  let sender: User
  let text: String
}

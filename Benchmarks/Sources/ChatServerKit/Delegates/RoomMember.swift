/// Somebody in a room, who is told what is said there.
protocol RoomMember: AnyObject, Sendable {
  /// Which member it is: no two have the same.
  var id: Int { get }
  /// Who it is, for people.
  var name: String { get }
  /// Where it wants to be told; `nil` for anywhere.
  var executor: (any TaskExecutor)? { get }

  /// Takes note that it is about to be a member of a room.
  ///
  /// - Parameters:
  ///   - number: the number of the first message that it is to hear.
  ///   - bytes: where that message begins in all that the room's members are sent.
  ///   - room: the room's number.
  func expect(_ number: Int, after bytes: Int, in room: Int)

  /// Up to where it has taken what the members of a room are sent; `Int.max` if it is in no such room.
  func taken(in room: Int) -> Int

  /// Takes a message, and waits for as long as the member cannot take more; called on ``executor``.
  func receive(_ message: Message) async throws

  /// Takes a message without waiting, or loses it.
  ///
  /// For those who cannot wait.
  func receiveNow(_ message: Message)
}

extension RoomMember {
  var name: String { "member \(id)" }
  func expect(_ number: Int, after bytes: Int, in room: Int) {}
  func taken(in room: Int) -> Int { .max }
}

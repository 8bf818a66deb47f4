/// What a member of rooms is to hear next, in each of them.
///
/// Rooms are told apart by their numbers: a message may come after its room has ended and another one of the
/// same name has begun.
struct Dues {
  private struct Due {
    /// The number of the next message.
    var number: Int
    /// Up to where the member has taken what the room's members are sent.
    var taken: Int
    /// The number of the last message that came.
    var last: Int
    /// Whether a message is being written to the client.
    var isBusy = false
  }

  private var dues: [Int: Due] = [:]

  /// Takes note of a room before its first message.
  mutating func expect(_ number: Int, after bytes: Int, in room: Int) {
    dues[room] = Due(number: number, taken: bytes, last: number - 1)
  }

  /// Takes note that nothing more is to come from a room.
  mutating func forget(_ room: Int) {
    dues[room] = nil
  }

  mutating func forgetAll() {
    dues = [:]
  }

  /// Up to where the member has taken what a room's members are sent; `Int.max` if it is not in the room.
  func taken(in room: Int) -> Int { dues[room]?.taken ?? .max }

  /// Takes note of a message, which has to be written unless it is not due.
  ///
  /// It is not due if it is of a room that the member has left, or from before it joined. Neither is it while
  /// another one of the room is being written: that happens only to a member whose backlog was thrown away.
  ///
  /// - Returns: how many before it were missed; `nil` if it is not due.
  mutating func take(_ message: Message) -> Int? {
    guard var due = dues[message.roomID], message.number > due.last else { return nil }
    defer { dues[message.roomID] = due }
    due.taken = message.end
    due.last = message.number
    if due.isBusy { return nil }
    let missed = message.number - due.number
    due.number = message.number + 1
    due.isBusy = true
    return missed
  }

  /// Takes note that the message that was taken has been written.
  ///
  /// - Returns: how many were missed meanwhile, which has to be written next; `nil` if none were.
  mutating func finish(in room: Int) -> Int? {
    guard var due = dues[room] else { return nil }
    defer { dues[room] = due }
    let missed = due.last + 1 - due.number
    due.number = due.last + 1
    due.isBusy = missed > 0
    return missed > 0 ? missed : nil
  }
}

import NIOCore

/// What was said in a room.
struct Message: Sendable {
  let room: String
  /// Its place in the room, counted from 1.
  let number: Int
  let sender: String
  let text: String
  /// As every member gets it: made once, shared by all.
  let line: ByteBuffer

  init(room: String, number: Int, sender: String, text: String) {
    self.room = room
    self.number = number
    self.sender = sender
    self.text = text
    line = ByteBuffer(string: "msg \(room) \(number) \(sender) \(text)\n")
  }
}

import NIOCore

/// What was said in a room.
struct Message: Sendable {
  let room: String
  /// Which room of that name: one that ended and began again has another number.
  let roomID: Int
  /// Its place in the room, counted from 1.
  let number: Int
  let sender: String
  /// As every member gets it: made once, shared by all.
  let line: ByteBuffer
  /// How many bytes the room's members were sent each, up to the end of this message.
  let end: Int
  private let textStart: Int

  /// Makes a message.
  ///
  /// - Parameters:
  ///   - room: the room's name.
  ///   - number: its place in the room.
  ///   - sender: the sender's name.
  ///   - text: the text.
  ///   - roomID: the room's number.
  ///   - bytes: how many bytes the room's members were sent each before it.
  init(
    room: String, number: Int, sender: String, text: String, roomID: Int = 0, after bytes: Int = 0
  ) {
    self.room = room
    self.roomID = roomID
    self.number = number
    self.sender = sender
    let start = "msg \(room) \(number) \(sender) "
    textStart = start.utf8.count
    line = ByteBuffer(string: start + text + "\n")
    end = bytes + line.readableBytes
  }

  /// How many bytes each member is sent.
  var size: Int { line.readableBytes }

  /// What was said; it is kept once, in the line.
  var text: String {
    line.getString(at: textStart, length: line.readableBytes - textStart - 1) ?? ""
  }
}

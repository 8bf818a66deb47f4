import Testing

@testable import ChatServerKit

@Suite("What a member of rooms is to hear next")
struct DuesTests {
  private var dues = Dues()

  private func message(_ number: Int, in room: Int) -> Message {
    // Each has 20 bytes.
    let text = String(repeating: "x", count: 20 - "msg tea \(number) ann \n".utf8.count)
    return Message(
      room: "tea", number: number, sender: "ann", text: text, roomID: room, after: 20 * (number - 1)
    )
  }

  /// Takes a message, and has written it.
  private mutating func hear(_ number: Int, in room: Int) -> Int? {
    let missed = dues.take(message(number, in: room))
    #expect(dues.finish(in: room) == nil)
    return missed
  }

  @Test("messages in order are due, and those left out are counted")
  mutating func order() {
    dues.expect(1, after: 0, in: 1)
    #expect(hear(1, in: 1) == 0)
    #expect(hear(2, in: 1) == 0)
    #expect(hear(5, in: 1) == 2)
    #expect(hear(4, in: 1) == nil)
    #expect(dues.taken(in: 1) == 100)
  }

  @Test("a message of a room that has ended is not taken for one of the next room of that name")
  mutating func endOfRoom() {
    dues.expect(1, after: 0, in: 1)
    #expect(hear(1, in: 1) == 0)
    dues.forget(1)
    dues.expect(1, after: 0, in: 2)
    #expect(hear(25, in: 1) == nil)
    #expect(hear(1, in: 2) == 0)
    #expect(hear(2, in: 2) == 0)
  }

  @Test("a message from before the member came back to a room is not due")
  mutating func comingBack() {
    dues.expect(1, after: 0, in: 1)
    dues.forget(1)
    dues.expect(8, after: 140, in: 1)
    #expect(hear(7, in: 1) == nil)
    #expect(hear(8, in: 1) == 0)
  }

  @Test("while one is being written, others are missed, count as taken, and are told of afterwards")
  mutating func busy() {
    dues.expect(1, after: 0, in: 1)
    #expect(dues.take(message(1, in: 1)) == 0)
    #expect(dues.take(message(2, in: 1)) == nil)
    #expect(dues.take(message(4, in: 1)) == nil)
    #expect(dues.taken(in: 1) == 80)
    #expect(dues.finish(in: 1) == 3)
    // While that is being written as well.
    #expect(dues.take(message(5, in: 1)) == nil)
    #expect(dues.finish(in: 1) == 1)
    #expect(dues.finish(in: 1) == nil)
    #expect(hear(6, in: 1) == 0)
  }

  @Test("a member is behind in no room that it is not in")
  func nowhere() {
    #expect(dues.taken(in: 1) == .max)
  }
}

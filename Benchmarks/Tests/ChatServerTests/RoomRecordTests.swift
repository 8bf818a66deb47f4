import Testing

@testable import ChatLoadKit

@Suite("What a room's clients hear")
struct RoomRecordTests {
  @Test("each hearer of a message is told when the first had it")
  func beginnings() {
    let room = RoomRecord(name: "tea")
    #expect(room.note(7, at: 1, by: "ann", now: 10) == 10)
    #expect(room.note(8, at: 2, by: "ann", now: 20) == 20)
    #expect(room.note(7, at: 1, by: "bob", now: 35) == 10)
    #expect(room.note(8, at: 2, by: "bob", now: 36) == 20)
    #expect(room.faults == [])
  }

  @Test("who hears something else than the first, or something before it was said, is noted")
  func faults() {
    let room = RoomRecord(name: "tea")
    room.note(7, at: 1, by: "ann", now: 10)
    #expect(room.note(9, at: 1, by: "bob", now: 11) == 11)
    room.note(9, at: 3, by: "bob", now: 12)
    #expect(room.faults.count == 2)
  }
}

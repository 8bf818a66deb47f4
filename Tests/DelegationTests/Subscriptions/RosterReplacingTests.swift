import Testing

@testable import Delegation

@Suite("Roster: those that take the places of others")
struct RosterReplacingTests {
  @Test("one that takes another's place with another rank, or after that was removed, is found")
  func replacingElsewhere() {
    var roster = Roster<FakeMember>()
    let members = (0..<4).map { FakeMember(serial: $0) }
    for member in members { roster.add(member) }
    let heirs = [FakeMember(serial: 1, rank: 1), FakeMember(serial: 2)]
    members[1].isTerminated = true
    roster.replace(members[1], by: heirs[0])
    members[2].isTerminated = true
    roster.noteTerminated(count: 1)
    _ = roster.snapshot()
    roster.replace(members[2], by: heirs[1])
    let snapshot = roster.snapshot()
    #expect(
      snapshot.map { ObjectIdentifier($0) }
        == [heirs[0], members[0], heirs[1], members[3]].map { ObjectIdentifier($0) })
    #expect(Set(roster.takeFinished().map(\.serial)) == [1, 2])
  }

  @Test("one whose place is taken by one of another rank is gone from the next snapshot")
  func anotherRank() {
    var roster = Roster<FakeMember>()
    let members = (0..<4).map { FakeMember(serial: $0) }
    for member in members { roster.add(member) }
    let heir = FakeMember(serial: 1, rank: 1)
    members[1].isTerminated = true
    roster.replace(members[1], by: heir)
    let snapshot = roster.snapshot()
    #expect(
      snapshot.map { ObjectIdentifier($0) }
        == [heir, members[0], members[2], members[3]].map { ObjectIdentifier($0) })
    #expect(roster.takeFinished().map(\.serial) == [1])
  }

  @Test("one that was the last and has been removed already is replaced at the end")
  func last() {
    var roster = Roster<FakeMember>()
    let members = (0..<3).map { FakeMember(serial: $0) }
    for member in members { roster.add(member) }
    members[2].isTerminated = true
    roster.noteTerminated(count: 1)
    _ = roster.snapshot()
    let heir = FakeMember(serial: 2)
    roster.replace(members[2], by: heir)
    let snapshot = roster.snapshot()
    #expect(
      snapshot.map { ObjectIdentifier($0) }
        == [members[0], members[1], heir].map { ObjectIdentifier($0) })
  }
}

import Testing

@testable import Delegation

@Suite(
  "Roster: the subscriptions of a protocol in the order in which they are served", .inTurn(.heavy))
struct RosterTests {
  @Test("after every history of six steps it agrees with a filtered and sorted list")
  func agreesWithList() {
    let exploration = RosterWorld().explore(upTo: 6)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 30_000)
  }

  @Test("higher ranks come first, equal ones in the order of subscription")
  func order() {
    var roster = Roster<FakeMember>()
    for serial in 0..<12 { roster.add(FakeMember(serial: serial, rank: serial % 3)) }
    #expect(roster.snapshot().map(\.serial) == [2, 5, 8, 11, 1, 4, 7, 10, 0, 3, 6, 9])
  }

  @Test("one that bears an older one's serial comes in its place")
  func successor() {
    var roster = Roster<FakeMember>()
    let members = (0..<3).map { FakeMember(serial: $0) }
    for member in members { roster.add(member) }
    let successor = FakeMember(serial: 1)
    members[1].isTerminated = true
    roster.add(successor)
    roster.noteTerminated(count: 1)
    #expect(roster.snapshot().map { $0 === successor } == [false, true, false])
    #expect(roster.takeFinished().map { $0 === members[1] } == [true])
  }

  @Test("those that leave without a snapshot being taken are released when they are half")
  func halfGone() {
    var roster = Roster<FakeMember>()
    let members = (0..<1000).map { FakeMember(serial: $0) }
    for member in members { roster.add(member) }
    var most = 0
    for member in members {
      member.isTerminated = true
      roster.noteTerminated(count: 1)
      _ = roster.takeFinished()
      // What it would release if it were asked for a snapshot, it still has.
      var asked = roster
      let living = asked.snapshot().count
      let kept = asked.takeFinished().count
      most = max(most, kept)
      #expect(kept <= living)
    }
    #expect(most == 500)
    #expect(roster.allMembers().isEmpty)
  }

  @Test("a snapshot looks at nobody if nothing has changed, and sorts only when it has to")
  func unchanged() {
    var roster = Roster<CountingMember>()
    let members = (0..<10).map { CountingMember(serial: $0) }
    func looks() -> Int {
      for member in members { member.looks = 0 }
      _ = roster.snapshot()
      return members.reduce(0) { $0 + $1.looks }
    }
    for member in members { roster.add(member) }
    #expect(looks() == 0)
    // Each is asked once whether it is gone, nobody for its rank, and the one that is whether it rests.
    members[3].isLeaving = true
    roster.noteTerminated(count: 1)
    #expect(looks() == 11)
    #expect(looks() == 0)
    roster.rank(members[4], 0)
    #expect(looks() == 0)
    roster.rank(members[4], 1)
    #expect(looks() > 0)
    #expect(looks() == 0)
  }

  @Test("those that are leaving are looked at a few at a time, however many they are")
  func leavingMany() {
    var roster = Roster<CountingMember>()
    let members = (0..<1000).map { CountingMember(serial: $0) }
    for member in members {
      roster.add(member)
      member.isLeaving = true
      member.isIdle = false
    }
    roster.noteTerminated(count: 1000)
    for member in members { member.looks = 0 }
    for _ in 0..<100 {
      #expect(roster.takeFinished().isEmpty)
      let looks = members.reduce(0) { $0 + $1.looks }
      for member in members { member.looks = 0 }
      #expect(looks <= 4)
    }
    // One is found when its turn has come, and all of them at once when they are idle.
    members[500].isIdle = true
    var found: [Int] = []
    for _ in 0..<250 { found += roster.takeFinished().map(\.serial) }
    #expect(found == [500])
    for member in members { member.isIdle = true }
    #expect(roster.takeFinished().count == 999)
    #expect(!roster.mayHaveFinished)
  }

  @Test("one that takes another's place is put there without a look at the others")
  func replacing() {
    var roster = Roster<CountingMember>()
    var members = (0..<1000).map { CountingMember(serial: $0) }
    for member in members { roster.add(member) }
    for member in members { member.looks = 0 }
    let former = members[700]
    former.isLeaving = true
    members[700] = CountingMember(serial: 700)
    roster.replace(former, by: members[700])
    let snapshot = roster.snapshot()
    #expect(snapshot.map(\.serial) == members.map(\.serial))
    #expect(members.reduce(former.looks) { $0 + $1.looks } < 60)
    #expect(roster.takeFinished().map(ObjectIdentifier.init) == [ObjectIdentifier(former)])
  }
}

/// A member that counts how often it is asked for its rank, or whether it is gone.
private final class CountingMember: RosterMember {
  let serial: Int
  private var rests = true
  var isLeaving = false
  var looks = 0

  private var present = 0

  var rank: Int {
    get {
      looks += 1
      return present
    }
    set { present = newValue }
  }

  var isTerminated: Bool {
    looks += 1
    return isLeaving
  }

  var isIdle: Bool {
    get {
      looks += 1
      return rests
    }
    set { rests = newValue }
  }

  init(serial: Int) {
    self.serial = serial
  }
}

final class FakeMember: RosterMember {
  let serial: Int
  var rank: Int
  var isTerminated = false
  var isIdle = true

  init(serial: Int, rank: Int = 0) {
    self.serial = serial
    self.rank = rank
  }
}

/// Three members at most that join, move, are terminated and finish, and one that looks.
private struct RosterWorld: SmallWorld {
  enum Step {
    case add(rank: Int)
    /// The member is gone; the roster has not been told.
    case leave(Int, isIdle: Bool)
    case tell
    case rest(Int)
    case move(Int)
    case snapshot
    case takeFinished
  }

  /// A member as the model has it.
  struct Entry {
    let member: FakeMember
    var rank: Int
    var isTerminated = false
    var isIdle = true
    var isTaken = false
  }

  private var roster = Roster<FakeMember>()
  private var list: [Entry] = []
  private var untold = 0

  var steps: [Step] {
    var steps: [Step] = [.snapshot, .takeFinished]
    if list.count < 3 { steps += [.add(rank: 0), .add(rank: 1)] }
    if untold > 0 { steps.append(.tell) }
    for (index, entry) in list.enumerated() {
      if !entry.isTerminated {
        steps += [
          .leave(index, isIdle: true), .leave(index, isIdle: false), .move(index),
        ]
      } else if !entry.isIdle {
        steps.append(.rest(index))
      }
    }
    return steps
  }

  mutating func take(_ step: Step) -> String? {
    impose()
    switch step {
    case .add(let rank):
      list.append(Entry(member: FakeMember(serial: list.count, rank: rank), rank: rank))
      roster.add(list.last!.member)
    case .leave(let index, let isIdle):
      list[index].isTerminated = true
      list[index].isIdle = isIdle
      untold += 1
    case .tell:
      roster.noteTerminated(count: untold)
      untold = 0
    case .rest(let index):
      list[index].isIdle = true
    case .move(let index):
      list[index].rank = 1 - list[index].rank
      roster.rank(list[index].member, list[index].rank)
    case .snapshot:
      if let fault = checkSnapshot() { return fault }
    case .takeFinished:
      if let fault = checkFinished() { return fault }
    }
    impose()
    return checkAll()
  }

  /// Gives the members, which all histories share, this history's state.
  private func impose() {
    for entry in list {
      entry.member.rank = entry.rank
      entry.member.isTerminated = entry.isTerminated
      entry.member.isIdle = entry.isIdle
    }
  }

  private mutating func checkSnapshot() -> String? {
    let expected = list.filter { !$0.isTerminated }.sorted {
      ($1.rank, $0.member.serial) < ($0.rank, $1.member.serial)
    }.map(\.member)
    let snapshot = roster.snapshot()
    guard snapshot.filter({ !$0.isTerminated }).elementsEqual(expected, by: ===) else {
      return "snapshot \(snapshot.map(\.serial)), expected \(expected.map(\.serial))"
    }
    if untold == 0, snapshot.count > expected.count { return "a snapshot with one that is gone" }
    return nil
  }

  private mutating func checkFinished() -> String? {
    // What was gone when the roster last looked can be taken, once; all of it after a snapshot.
    if untold == 0 { _ = roster.snapshot() }
    let finished = roster.takeFinished().map(\.serial).sorted()
    let due = list.filter { $0.isTerminated && $0.isIdle && !$0.isTaken }.map(\.member.serial)
    if untold == 0, finished != due { return "finished \(finished), expected \(due)" }
    guard Set(finished).count == finished.count, Set(finished).isSubset(of: due) else {
      return "finished \(finished), of which some are not due: \(due)"
    }
    for serial in finished { list[serial].isTaken = true }
    return nil
  }

  private func checkAll() -> String? {
    // A copy is asked, as the question itself sorts out who is gone.
    var asked = roster
    let all = asked.allMembers().map(\.serial).sorted()
    let uncollected = list.filter { !$0.isTaken }.map(\.member.serial)
    guard all == uncollected else { return "all \(all), expected \(uncollected)" }
    guard roster.finishing.all.allSatisfy(\.isTerminated) else {
      return "one that is finishing is not terminated"
    }
    var emptied = roster
    let mayHaveFinished = !roster.finishing.isEmpty || !emptied.takeFinished().isEmpty
    return roster.mayHaveFinished == mayHaveFinished ? nil : "finished: \(!mayHaveFinished)"
  }
}

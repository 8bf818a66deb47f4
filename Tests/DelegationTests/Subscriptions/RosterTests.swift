import Testing

@testable import Delegation

@Suite(
  "Roster: the subscriptions of a protocol in the order in which they are served", .inTurn(.heavy))
struct RosterTests {
  private let topic = Topic(Nobody.self)

  private func members(_ count: Int) -> [SubscriptionNode] {
    (0..<count).map { Structures.node(of: Nobody(), in: topic, serial: $0) }
  }

  private func ids(_ nodes: [SubscriptionNode]) -> [ObjectIdentifier] {
    nodes.map { ObjectIdentifier($0) }
  }

  private func roster(of members: [SubscriptionNode]) -> Roster {
    var roster = Roster(topic: topic)
    roster.apply(.init(topic: topic, added: members))
    return roster
  }

  @Test("after every history of six steps it agrees with a filtered and sorted list")
  func agreesWithList() {
    let exploration = RosterWorld().explore(upTo: 6)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 20_000)
  }

  @Test("higher ranks come first, equal ones in the order of subscription")
  func order() {
    let members = (0..<12).map {
      Structures.node(of: Nobody(), in: topic, priority: $0 % 3, serial: $0)
    }
    var roster = roster(of: members)
    #expect(roster.snapshot().map(\.serial) == [2, 5, 8, 11, 1, 4, 7, 10, 0, 3, 6, 9])
  }

  @Test("one that bears an older one's serial comes in its place")
  func successor() {
    let members = members(3)
    let successor = Structures.node(of: Nobody(), in: topic, serial: 1)
    var roster = roster(of: members)
    members[1].impose(isTerminated: true)
    roster.apply(.init(topic: topic, added: [successor], terminated: 1))
    #expect(roster.snapshot().map { $0 === successor } == [false, true, false])
    #expect(roster.nodes.count == 3)
  }

  @Test("those that leave without a snapshot being taken are released when they are half")
  func halfGone() {
    let members = members(1000)
    var roster = roster(of: members)
    var most = 0
    for (index, member) in members.enumerated() {
      member.impose(isTerminated: true)
      roster.apply(.init(topic: topic, terminated: 1))
      let living = 999 - index
      most = max(most, roster.nodes.count - living)
      #expect(roster.nodes.count <= living * 2)
    }
    #expect(most == 500)
    #expect(roster.nodes.isEmpty)
  }

  @Test("those that are leaving are looked at a few at a time, however many they are")
  func leavingMany() {
    let members = members(1000)
    var roster = roster(of: members)
    for member in members { member.impose(isTerminated: true, isIdle: false) }
    roster.apply(.init(topic: topic, terminated: 1000))
    #expect(roster.nodes.count == 1000)
    // One is found when its turn has come, and all of them at once when they are idle.
    members[999].impose(isTerminated: true)
    var looks = 0
    while roster.nodes.count == 1000, looks < 1000 {
      looks += 1
      roster.apply(.init(topic: topic))
    }
    #expect((240...260).contains(looks))
    for member in members { member.impose(isTerminated: true) }
    roster.apply(.init(topic: topic))
    #expect(roster.nodes.isEmpty)
  }

  @Test("those that take others' places are found there, or by their ranks")
  func replacing() {
    let members = members(5)
    var roster = roster(of: members)
    let heirs = [(1, 1), (2, 0), (4, 0)].map { serial, priority in
      Structures.node(of: Nobody(), in: topic, priority: priority, serial: serial)
    }
    for serial in [1, 2, 4] { members[serial].impose(isTerminated: true) }
    // In its place, with another rank, and after it was removed.
    roster.apply(.init(topic: topic, replaced: [(members[4], heirs[2])]))
    roster.apply(.init(topic: topic, replaced: [(members[1], heirs[0])]))
    roster.apply(.init(topic: topic, terminated: 1))
    _ = roster.snapshot()
    roster.apply(.init(topic: topic, replaced: [(members[2], heirs[1])]))
    let expected = [heirs[0], members[0], heirs[1], members[3], heirs[2]]
    #expect(ids(roster.snapshot()) == ids(expected))
    #expect(roster.nodes.count == 5)
  }

  @Test("one of the same rank takes a place at once, and no other one moves", arguments: 0..<3)
  func replacingInPlace(serial: Int) {
    var members = members(3)
    var roster = roster(of: members)
    let heir = Structures.node(of: Nobody(), in: topic, serial: serial)
    members[serial].impose(isTerminated: true)
    roster.apply(.init(topic: topic, replaced: [(members[serial], heir)]))
    members[serial] = heir
    #expect(ids(roster.nodes) == ids(members))
  }

  @Test("one of another rank goes where its rank is, and the one whose place it takes goes away")
  func replacingByAnotherRank() {
    let members = members(3)
    var roster = roster(of: members)
    let heir = Structures.node(of: Nobody(), in: topic, priority: 1, serial: 1)
    members[1].impose(isTerminated: true)
    roster.apply(.init(topic: topic, replaced: [(members[1], heir)]))
    #expect(ids(roster.snapshot()) == ids([heir, members[0], members[2]]))
  }

  @Test("one that takes the last one's place is the last, though that one was removed before")
  func replacingTheLast() {
    let members = members(3)
    var roster = roster(of: members)
    let heir = Structures.node(of: Nobody(), in: topic, serial: 2)
    for serial in [0, 2] { members[serial].impose(isTerminated: true) }
    // It is told of the first one only, and finds the other one gone as well.
    roster.apply(.init(topic: topic, terminated: 1))
    #expect(ids(roster.snapshot()) == ids([members[1]]))
    roster.apply(.init(topic: topic, replaced: [(members[2], heir)]))
    #expect(ids(roster.snapshot()) == ids([members[1], heir]))
  }

  @Test("a snapshot is the one before, if nothing has changed")
  func unchanged() {
    let members = (0..<8).map {
      Structures.node(of: Nobody(), in: topic, priority: $0 % 2, serial: $0)
    }
    var roster = roster(of: members)
    members[3].impose(isTerminated: true)
    roster.apply(.init(topic: topic, terminated: 1))
    // Both are kept, so that they are not at one place if they are not one.
    let snapshots = (0..<2).map { _ in roster.snapshot() }
    let places = snapshots.map { $0.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
    #expect(places[0] == places[1])
    #expect(snapshots[0].map(\.serial) == [1, 5, 7, 0, 2, 4, 6])
  }
}

extension SubscriptionNode {
  /// Gives it the state of a history, and a number of questions that it has answered.
  fileprivate func impose(isTerminated: Bool, isIdle: Bool = true, answered: UInt64 = 0) {
    contents.withLock { _ = $0.mailbox.terminate(at: 0, as: .cancelled) }
    let bits = (isTerminated ? Bits.terminated : 0) | (isIdle ? 0 : Bits.call)
    state.store(bits | answered * Bits.asked, ordering: .relaxed)
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
  }

  /// A member as the model has it.
  struct Entry {
    let member: SubscriptionNode
    var rank: Int
    var isTerminated = false
    var isIdle = true
  }

  private let topic: Topic
  private var roster: Roster
  private var list: [Entry] = []
  private var untold = 0

  init() {
    topic = Topic(Nobody.self)
    roster = Roster(topic: topic)
  }

  var steps: [Step] {
    var steps: [Step] = [.snapshot]
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
      let member = Structures.node(
        of: Nobody(), in: topic, priority: rank, serial: list.count)
      list.append(Entry(member: member, rank: rank))
      impose()
      roster.apply(.init(topic: topic, added: [member]))
    case .leave(let index, let isIdle):
      list[index].isTerminated = true
      list[index].isIdle = isIdle
      untold += 1
    case .tell:
      roster.apply(.init(topic: topic, terminated: untold))
      untold = 0
    case .rest(let index):
      list[index].isIdle = true
    case .move(let index):
      list[index].rank = 1 - list[index].rank
      roster.apply(
        .init(topic: topic, ranked: [(list[index].member, list[index].rank)]))
    case .snapshot:
      if let fault = checkSnapshot() { return fault }
    }
    impose()
    return checkAll()
  }

  /// Gives the members, which all histories share, this history's state.
  private func impose() {
    for (index, entry) in list.enumerated() {
      entry.member.rank = entry.rank
      entry.member.impose(
        isTerminated: entry.isTerminated, isIdle: entry.isIdle, answered: 1 << UInt64(4 * index))
    }
  }

  private mutating func checkSnapshot() -> String? {
    let expected = list.filter { !$0.isTerminated }.sorted {
      ($1.rank, $0.member.serial) < ($0.rank, $1.member.serial)
    }.map(\.member)
    let snapshot = roster.snapshot()
    guard snapshot.filter(\.isOpen).elementsEqual(expected, by: ===) else {
      return "snapshot \(snapshot.map(\.serial)), expected \(expected.map(\.serial))"
    }
    if untold > 0 { return nil }
    if snapshot.count > expected.count { return "a snapshot with one that is gone" }
    let left = roster.nodes.filter { !$0.isOpen && $0.isIdle }.map(\.serial)
    return left.isEmpty ? nil : "\(left) are finished, and still there"
  }

  /// Each is there, or its account is in the sum, once.
  private func checkAll() -> String? {
    let present = roster.nodes.map(\.serial).sorted()
    let added = list.indices.filter { !present.contains($0) }
    guard Set(present).count == present.count else { return "\(present) are there" }
    let sum = added.reduce(0) { $0 + 1 << (4 * $1) }
    if roster.finishedQuestions != QuestionAccount(answered: sum) {
      return "\(roster.finishedQuestions) of \(added)"
    }
    let early = added.filter { !list[$0].isTerminated || !list[$0].isIdle }
    return early.isEmpty ? nil : "\(early) were not finished"
  }
}

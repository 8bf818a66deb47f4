import Testing

@testable import Delegation

@Suite("MemberList: the subscriptions of a protocol in the order in which they are served", .inTurn)
struct MemberListTests {
  @Test(
    "one whose place was taken stays for the callers that find its heir by it, until that is there")
  func replaced() {
    let members = (0..<3).map { Member($0) }
    var list = MemberList()
    for member in members { list.add(member) }
    _ = list.merged()
    var copy = list
    // It ends while the list is merged outside of the lock, and its heir is not in the copy.
    members[1].end(isReplaced: true)
    let heir = Member(1)
    list.noteEnd()
    list.add(heir)
    let nodes = copy.merge()
    list.put(&copy)
    #expect(nodes.map(\.serial) == [0, 1, 2] && nodes[1] === members[1])
    #expect(list.merged().map { $0 === heir } == [false, true, false])
  }

  @Test(
    "after random changes, with merges under way, each list is that of an array",
    arguments: seeds(4))
  func agreesWithArray(seed: UInt64) {
    for run in 0..<UInt64(250) {
      var run = ListRun(seed: seed &* 1_000 &+ run)
      if let fault = run.play(steps: 40) {
        Issue.record("\(fault)")
        return
      }
    }
  }
}

private typealias Member = SubscriptionNode

extension SubscriptionNode {
  private static let topic = Board().topic

  fileprivate convenience init(_ serial: Int, rank: Int = 0) {
    let nobody = Nobody()
    self.init(
      reference: WeakReference(nobody, object: nobody), topic: Self.topic,
      mailbox: Mailbox(at: Notification(), number: 0), options: nil,
      site: SubscribeSite(Nobody.self, at: (#fileID, #line)), priority: rank,
      serial: serial, origin: serial)
  }

  fileprivate func end(isReplaced: Bool) { beginTermination(isReplaced: isReplaced) }
}

extension MemberList {
  /// Merges at once.
  fileprivate mutating func merged() -> [Member] {
    var copy = self
    let nodes = copy.merge()
    put(&copy)
    return nodes
  }
}

/// A list and beside it an array, which is sorted each time that it is looked at.
private struct ListRun {
  private struct Pending {
    var copy: MemberList
    /// The places that were taken when it was made, in order.
    var expected: [Member]
    /// What the merge has found.
    var nodes: [Member]?
  }

  private var dice: Dice
  private var list = MemberList()
  private var open: [Member] = []
  private var lastSerial = 0
  private var pending: [Pending] = []
  /// The places that were given up.
  private var ended: Set<Int> = []

  init(seed: UInt64) { dice = Dice(seed: seed) }

  private var inOrder: [Member] {
    open.sorted { ($1.priority, $0.serial) < ($0.priority, $1.serial) }
  }

  mutating func play(steps: Int) -> String? {
    for step in 0..<steps {
      var fault: String?
      switch dice.roll(8) {
      case 0, 1: add(serial: nil, rank: dice.roll(3) - 1)
      case 2, 3: end(isReplaced: dice.roll(2) == 0)
      case 4, 5:
        if pending.count < 4 {
          pending.append(Pending(copy: list, expected: inOrder))
        }
      case 6: merge()
      default: fault = put()
      }
      if let fault = fault ?? check() { return "\(fault) at step \(step)" }
    }
    while !pending.isEmpty {
      merge()
      if let fault = put() ?? check() { return fault }
    }
    _ = list.merged()
    return list.snapshot == nil ? "changed by nobody" : check()
  }

  private mutating func add(serial: Int?, rank: Int) {
    if serial == nil { lastSerial += 1 }
    let member = Member(serial ?? lastSerial, rank: rank)
    open.append(member)
    list.add(member)
  }

  private mutating func end(isReplaced: Bool) {
    guard !open.isEmpty else { return }
    let member = open.remove(at: dice.roll(open.count))
    member.end(isReplaced: isReplaced)
    list.noteEnd()
    if isReplaced {
      add(serial: member.serial, rank: dice.roll(3) - 1)
    } else {
      ended.insert(member.serial)
    }
  }

  private mutating func merge() {
    guard
      let index = pending.indices.filter({ pending[$0].nodes == nil }).randomElement(using: &dice)
    else { return }
    pending[index].nodes = pending[index].copy.merge()
  }

  private mutating func put() -> String? {
    guard
      let index = pending.indices.filter({ pending[$0].nodes != nil }).randomElement(using: &dice)
    else { return nil }
    var item = pending.remove(at: index)
    list.put(&item.copy)
    // Each place that has not been given up is there once, in the order of that moment.
    let found = (item.nodes ?? []).map(\.serial).filter { !ended.contains($0) }
    let expected = item.expected.map(\.serial).filter { !ended.contains($0) }
    return found == expected ? nil : "\(found), expected \(expected)"
  }

  private func check() -> String? {
    guard let snapshot = list.snapshot, !snapshot.elementsEqual(inOrder, by: ===) else {
      return nil
    }
    return "snapshot \(snapshot.map(\.serial)), expected \(inOrder.map(\.serial))"
  }
}

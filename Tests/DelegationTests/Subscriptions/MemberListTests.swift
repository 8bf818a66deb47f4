import Testing

@testable import Delegation

@Suite("MemberList: the subscriptions of a protocol in the order in which they are served")
struct MemberListTests {
  private let topic = Topic(Nobody.self)

  private func node(_ serial: Int, priority: Int = 0) -> SubscriptionNode {
    Structures.node(of: Nobody(), in: topic, priority: priority, serial: serial)
  }

  private func list(of nodes: [SubscriptionNode]) -> MemberList {
    var list = MemberList()
    for node in nodes { list.add(node) }
    return list
  }

  private func isPut(_ draft: inout MemberList.Draft, in list: inout MemberList) -> Bool {
    list.put(&draft)
  }

  @Test("a new one is empty, which needs no merge")
  func empty() {
    #expect(MemberList().snapshot?.isEmpty == true)
    #expect(MemberList().endedCount == 0)
  }

  @Test("higher priorities come first, equal ones in the order of subscription")
  func order() {
    var list = list(of: (0..<12).map { node($0, priority: $0 % 3) })
    #expect(list.snapshot == nil)
    let expected = [2, 5, 8, 11, 1, 4, 7, 10, 0, 3, 6, 9]
    #expect(list.merged().map(\.serial) == expected)
    #expect(list.snapshot?.map(\.serial) == expected)
  }

  @Test("another priority shows in the next snapshot, and the same one changes nothing")
  func ranks() {
    let nodes = (0..<3).map { node($0) }
    var list = list(of: nodes)
    #expect(list.merged().map(\.serial) == [0, 1, 2])
    list.rank(nodes[2], 0)
    #expect(list.snapshot?.map(\.serial) == [0, 1, 2])
    list.rank(nodes[2], 1)
    #expect(list.snapshot == nil)
    #expect(list.merged().map(\.serial) == [2, 0, 1])
    list.rank(nodes[2], -1)
    #expect(list.merged().map(\.serial) == [0, 1, 2])
  }

  @Test("one that bears an older one's serial comes in its place")
  func successor() {
    let nodes = (0..<3).map { node($0) }
    var list = list(of: nodes)
    _ = list.merged()
    let heir = node(1)
    nodes[1].beginTermination()
    list.noteEnd()
    list.add(heir)
    #expect(list.merged().map { $0 === heir } == [false, true, false])
    // So does one of the last, which is in order anyhow.
    let last = node(2)
    nodes[2].beginTermination()
    list.noteEnd()
    list.add(last)
    #expect(
      list.merged().map(ObjectIdentifier.init) == [nodes[0], heir, last].map(ObjectIdentifier.init))
  }

  @Test("those that have ended are dropped by the next merge, and are not kept by it")
  func dropped() {
    var obituaries: [Obituary] = []
    var list = MemberList()
    do {
      let nodes = (0..<6).map { node($0) }
      obituaries = nodes.map(Obituary.init(of:))
      for node in nodes.prefix(4) { list.add(node) }
      _ = list.merged()
      // Of those that were merged, and of those that were added since.
      for node in nodes.suffix(2) { list.add(node) }
      for serial in [1, 5] {
        nodes[serial].beginTermination()
        list.noteEnd()
      }
      #expect(list.endedCount == 2)
      #expect(list.merged().map(\.serial) == [0, 2, 3, 4])
    }
    #expect(list.endedCount == 0)
    #expect(obituaries.map(\.isDead) == [false, true, false, false, false, true])
  }

  @Test("one that is added while a list that is not in order is merged is put in order afterwards")
  func addedMeanwhile() {
    var list = list(of: [node(0, priority: -5), node(1, priority: 5)])
    var draft = list.take()
    // It comes after the last one, but before the first.
    list.add(node(2))
    draft.merge()
    #expect(isPut(&draft, in: &list) == true)
    #expect(draft.nodes.map(\.serial) == [1, 0])
    #expect(list.snapshot == nil)
    #expect(list.merged().map(\.serial) == [1, 2, 0])
  }

  @Test("a draft that is put late replaces no newer one, and is good for who took it")
  func late() {
    let nodes = (0..<3).map { node($0) }
    var list = list(of: [nodes[0]])
    var older = list.take()
    list.add(nodes[1])
    var newer = list.take()
    list.add(nodes[2])
    newer.merge()
    older.merge()
    #expect(isPut(&newer, in: &list) == true)
    #expect(isPut(&older, in: &list) == true)
    #expect(newer.nodes.map(\.serial) == [0, 1])
    #expect(older.nodes.map(\.serial) == [0])
    #expect(list.snapshot == nil)
    #expect(list.merged().map(\.serial) == [0, 1, 2])
  }

  @Test("one that was sorted while a priority was changed is no good, and one in order is")
  func rankedMeanwhile() {
    let nodes = (0..<3).map { node($0) }
    var list = list(of: nodes)
    var draft = list.take()
    draft.merge()
    // Nothing was sorted.
    list.rank(nodes[2], 1)
    #expect(isPut(&draft, in: &list) == true)
    #expect(draft.nodes.map(\.serial) == [0, 1, 2])
    #expect(list.snapshot == nil)
    draft = list.take()
    draft.merge()
    list.rank(nodes[1], 2)
    #expect(isPut(&draft, in: &list) == false)
    // Others' drafts of before are none the worse.
    #expect(list.merged().map(\.serial) == [1, 2, 0])
  }

  @Test("however many parts there are, each is merged once")
  func parts() {
    var list = MemberList()
    var drafts: [MemberList.Draft] = []
    for serial in 0..<300 {
      list.add(node(serial))
      drafts.append(list.take())
    }
    for index in [150, 100, 299, 200] {
      drafts[index].merge()
      #expect(drafts[index].nodes.map(\.serial) == Array(0...index))
      #expect(isPut(&drafts[index], in: &list) == true)
      #expect((list.snapshot != nil) == (index == 299 || index == 200))
    }
    list.add(node(300))
    #expect(list.merged().map(\.serial) == Array(0...300))
  }

  @Test("a snapshot is the one before, if nothing has changed")
  func unchanged() {
    var list = list(of: (0..<8).map { node($0, priority: $0 % 2) })
    // All are kept, so that they are not at one place if they are not one.
    let snapshots = [list.merged(), list.snapshot ?? [], list.merged()]
    let places = snapshots.map { $0.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
    #expect(places[0] == places[1])
    #expect(snapshots[2].map(\.serial) == [1, 3, 5, 7, 0, 2, 4, 6])
  }

  // MARK: Beside an array

  @Test(
    "after random changes, with merges under way, each list is that of an array", .inTurn(.heavy))
  func agreesWithArray() {
    for seed in 0..<UInt64(Effort.count(1_000)) {
      var run = ListRun(seed: Effort.firstSeed &+ seed)
      if let fault = run.play(steps: 40) {
        Issue.record("\(fault) with seed \(Effort.firstSeed &+ seed)")
        return
      }
    }
  }
}

extension MemberList {
  /// Merges at once.
  fileprivate mutating func merged() -> [SubscriptionNode] {
    var draft = take()
    draft.merge()
    let isPut = put(&draft)
    #expect(isPut)
    return draft.nodes
  }
}

/// A list and beside it an array, which is sorted whenever somebody looks.
private struct ListRun {
  private struct Pending {
    var draft: MemberList.Draft
    /// What was open when it was taken, in order; without those that had ended when it was merged.
    var expected: [SubscriptionNode]
    let rankings: Int
    var isMerged = false
  }

  private let topic = Topic(Nobody.self)
  private let subscriber = Nobody()
  private var dice: Dice
  private var list = MemberList()
  private var open: [SubscriptionNode] = []
  private var lastSerial = 0
  private var rankings = 0
  private var pending: [Pending] = []

  init(seed: UInt64) { dice = Dice(seed: seed) }

  private var inOrder: [SubscriptionNode] {
    open.sorted { ($1.rank, $0.serial) < ($0.rank, $1.serial) }
  }

  mutating func play(steps: Int) -> String? {
    for step in 0..<steps {
      let fault: String?
      switch dice.roll(9) {
      case 0, 1: fault = add()
      case 2: fault = end(isSucceeded: false)
      case 3: fault = end(isSucceeded: true)
      case 4: fault = rank()
      case 5, 6: fault = take()
      case 7: fault = merge()
      default: fault = put()
      }
      if let fault = fault ?? check() { return "\(fault) at step \(step)" }
    }
    while !pending.isEmpty {
      if let fault = merge() ?? put() ?? check() { return fault }
    }
    _ = take()
    return merge() ?? put() ?? (list.snapshot == nil ? "changed by nobody" : check())
  }

  private mutating func add(serial: Int? = nil) -> String? {
    if serial == nil { lastSerial += 1 }
    let node = Structures.node(
      of: subscriber, in: topic, priority: dice.roll(3) - 1, serial: serial ?? lastSerial)
    open.append(node)
    list.add(node)
    return nil
  }

  private mutating func end(isSucceeded: Bool) -> String? {
    guard !open.isEmpty else { return nil }
    let node = open.remove(at: dice.roll(open.count))
    node.beginTermination(isSucceeded: isSucceeded)
    list.noteEnd()
    return isSucceeded ? add(serial: node.serial) : nil
  }

  private mutating func rank() -> String? {
    guard let node = open.randomElement(using: &dice) else { return nil }
    let rank = dice.roll(3) - 1
    if node.rank != rank { rankings += 1 }
    list.rank(node, rank)
    return nil
  }

  private mutating func take() -> String? {
    if pending.count < 4 {
      pending.append(Pending(draft: list.take(), expected: inOrder, rankings: rankings))
    }
    return nil
  }

  private mutating func merge() -> String? {
    guard let index = pending.indices.filter({ !pending[$0].isMerged }).randomElement(using: &dice)
    else { return nil }
    pending[index].isMerged = true
    pending[index].draft.merge()
    return nil
  }

  private mutating func put() -> String? {
    guard let index = pending.indices.filter({ pending[$0].isMerged }).randomElement(using: &dice)
    else { return nil }
    var item = pending.remove(at: index)
    guard list.put(&item.draft) else {
      return item.rankings == rankings ? "refused, though no priority was changed" : nil
    }
    // One that ended while it was merged may be among them.
    let (found, expected) = (item.draft.nodes.filter(\.isOpen), item.expected.filter(\.isOpen))
    guard found.elementsEqual(expected, by: ===) else {
      return "\(found.map(\.serial)), expected \(expected.map(\.serial))"
    }
    return nil
  }

  private func check() -> String? {
    guard let snapshot = list.snapshot, !snapshot.elementsEqual(inOrder, by: ===) else {
      return nil
    }
    return "snapshot \(snapshot.map(\.serial)), expected \(inOrder.map(\.serial))"
  }
}

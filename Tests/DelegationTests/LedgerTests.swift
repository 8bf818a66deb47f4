import Testing

@testable import Delegation

@Suite("Ledger: one protocol's part of the inbox")
struct LedgerTests {
  enum Step: CaseIterable {
    case insert, insertWithIdentity, removeFirst, removeLast, removeAll, post, takeChanges
  }

  @Test("after every history of five steps it agrees with a list of who is subscribed")
  func agreesWithList() {
    let histories = words(of: Step.allCases, length: 5)
    #expect(histories.count == 16_807)
    for history in histories {
      var run = LedgerRun()
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
      if let fault = run.settle() {
        Issue.record("\(fault) after \(history)")
        return
      }
    }
  }

  @Test("a subscription is removed once")
  func removedOnce() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    let subscriber = Nobody()
    let node = Structures.node(of: subscriber, in: ledger.channel)
    ledger.insert(node, as: nil)
    _ = ledger.post(Structures.content(), followedBy: Notification())
    let departure = ledger.remove(node)
    #expect(departure?.end == 1)
    #expect(departure?.isLast == true)
    #expect(ledger.remove(node)?.end == nil)
    #expect(ledger.population == 0)
    #expect(ledger.takeChanges().left == 1)
  }

  @Test("those of one hash are kept apart, and the last one takes its bucket with it")
  func buckets() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    let subscribers = (0..<3).map { _ in Nobody() }
    let nodes = subscribers.map {
      Structures.node(of: $0, in: ledger.channel, identity: Identity(1))
    }
    for node in nodes { ledger.insert(node, as: Identity(1)) }
    let hash = Identity(1).hash
    #expect(ledger.remove(nodes[1])?.end != nil)
    #expect(
      ledger.identified[hash]?.map(ObjectIdentifier.init)
        == [nodes[0], nodes[2]].map(ObjectIdentifier.init))
    _ = ledger.remove(nodes[0])
    _ = ledger.remove(nodes[2])
    #expect(ledger.identified.isEmpty)
  }

  @Test("an object's subscriptions are found by its address, those with an id included")
  func byAddress() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    let (one, other) = (Nobody(), Nobody())
    let identities = [nil, Identity("a"), Identity("b"), Identity("a")]
    let nodes = zip([one, one, one, other], identities).enumerated().map { serial, pair in
      Structures.node(of: pair.0, in: ledger.channel, serial: serial, identity: pair.1)
    }
    for (node, identity) in zip(nodes, identities) { ledger.insert(node, as: identity) }
    func found() -> [Int] {
      ledger.subscriptions(at: ObjectIdentifier(one)).map(\.serial).sorted()
    }
    #expect(found() == [0, 1, 2])
    #expect(ledger.subscriptions(at: ObjectIdentifier(ledger.channel)).isEmpty)
    _ = ledger.remove(nodes[1])
    #expect(found() == [0, 2])
    ledger.move(nodes[2], from: identities[2], to: nil)
    _ = ledger.remove(nodes[0])
    #expect(found() == [2])
    _ = ledger.removeAll()
    #expect(found() == [])
  }

  // MARK: Keeping memory bounded

  @Test("changes that nobody takes are heavy from 512 on, joined and left together")
  func heavy() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    let subscriber = Nobody()
    for change in 1...255 {
      let identity = Identity(change)
      let node = Structures.node(of: subscriber, in: ledger.channel, identity: identity)
      ledger.insert(node, as: identity)
      _ = ledger.remove(node)
    }
    ledger.insert(Structures.node(of: subscriber, in: ledger.channel), as: nil)
    #expect(!ledger.isHeavy)
    ledger.insert(Structures.node(of: subscriber, in: ledger.channel), as: Identity(0))
    #expect(ledger.isHeavy)
    _ = ledger.takeChanges()
    #expect(!ledger.isHeavy)
  }

  @Test("a search for the dead is due at 512, once, then at twice what the last one left")
  func sweeps() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    var subscribers: [Nobody] = []
    var due: [Int] = []
    func insert(upTo population: Int) {
      while ledger.population < population {
        subscribers.append(Nobody())
        let node = Structures.node(of: subscribers.last!, in: ledger.channel)
        ledger.insert(node, as: Identity(ledger.population))
        if ledger.takeSweep() { due.append(ledger.population) }
      }
    }
    insert(upTo: 2000)
    #expect(due == [512])
    ledger.didSweep()
    insert(upTo: 6000)
    #expect(due == [512, 4000])
    _ = ledger.removeAll()
    ledger.didSweep()
    insert(upTo: 600)
    #expect(due == [512, 4000, 512])
  }

  @Test(
    "searches look at few more than subscribed, and the dead are few more than the living",
    arguments: [0, 100, 700])
  func amortised(living: Int) {
    var ledger = Ledger(channel: Channel(Nobody.self))
    var kept = 0
    var doomed: [SubscriptionNode] = []
    var looks = 0
    var most = 0
    let subscriptions = 20_000
    let subscribers = (0..<subscriptions).map { _ in Nobody() }
    for number in 0..<subscriptions {
      let identity = Identity(number)
      let node = Structures.node(of: subscribers[number], in: ledger.channel, identity: identity)
      ledger.insert(node, as: identity)
      if kept < living { kept += 1 } else { doomed.append(node) }
      most = max(most, doomed.count)
      if ledger.takeSweep() {
        looks += ledger.population
        for node in doomed { _ = ledger.remove(node) }
        doomed = []
        ledger.didSweep()
      }
    }
    #expect(looks > 0)
    #expect(looks <= 2 * subscriptions)
    #expect(most <= max(512, living * 2))
  }
}

/// A ledger and, beside it, what it should come to.
private struct LedgerRun {
  private struct Member {
    let subscriber: Nobody
    let node: SubscriptionNode
    let identity: Identity?
    var end: Int?
  }

  private var ledger = Ledger(channel: Channel(Nobody.self))
  private var members: [Member] = []
  private var posted = 0
  private var addressed = 0
  private var joined: [SubscriptionNode] = []
  private var left = 0

  private var open: [Int] { members.indices.filter { members[$0].end == nil } }

  mutating func take(_ step: LedgerTests.Step) -> String? {
    switch step {
    case .insert: insert(nil)
    case .insertWithIdentity: insert(Identity(members.count % 2))
    case .removeFirst: if let fault = remove(open.first) { return fault }
    case .removeLast: if let fault = remove(open.last) { return fault }
    case .removeAll: if let fault = removeAll() { return fault }
    case .post:
      _ = ledger.post(Structures.content(), followedBy: Notification())
      posted += 1
      addressed += open.count
    case .takeChanges: if let fault = takeChanges() { return fault }
    }
    return check()
  }

  private mutating func insert(_ identity: Identity?) {
    let subscriber = Nobody()
    let node = Structures.node(
      of: subscriber, in: ledger.channel, mailbox: ledger.makeMailbox(.unbounded),
      serial: members.count, identity: identity)
    ledger.insert(node, as: identity)
    members.append(Member(subscriber: subscriber, node: node, identity: identity))
    joined.append(node)
  }

  private mutating func remove(_ index: Int?) -> String? {
    guard let index else { return nil }
    let end = ledger.remove(members[index].node)?.end
    members[index].end = posted
    left += 1
    return end == posted ? nil : "removed at \(String(describing: end)), expected \(posted)"
  }

  private mutating func removeAll() -> String? {
    let removed = Set(ledger.removeAll().map(\.serial))
    let expected = Set(open)
    for index in open { members[index].end = posted }
    left += expected.count
    return removed == expected ? nil : "removed \(removed), expected \(expected)"
  }

  private mutating func takeChanges() -> String? {
    let changes = ledger.takeChanges()
    defer { (joined, left) = ([], 0) }
    guard changes.joined.elementsEqual(joined, by: ===), changes.left == left else {
      return "changes \(changes.joined.map(\.serial)), \(changes.left) left"
    }
    return nil
  }

  private func check() -> String? {
    let channel = ledger.channel.published.load(ordering: .relaxed)
    guard ledger.posted == posted, channel == posted else { return "posted \(ledger.posted)" }
    guard ledger.addressed == addressed else { return "addressed \(ledger.addressed)" }
    guard ledger.population == open.count else { return "population \(ledger.population)" }
    let all = Array(ledger.members.values) + ledger.identified.values.flatMap(\.self)
    guard all.map(\.serial).sorted() == open else { return "members \(all.map(\.serial))" }
    for (index, member) in members.enumerated() where member.node.isOpen != (member.end == nil) {
      return "member \(index) is open: \(member.node.isOpen)"
    }
    return nil
  }

  /// Closes all that have been removed: then the accounts add up to what was addressed.
  func settle() -> String? {
    for member in members {
      if let end = member.end { member.node.settle(at: end, as: .cancelled) }
    }
    var account = Account()
    for member in members { account += member.node.account }
    guard account.total == addressed else { return "\(account), addressed \(addressed)" }
    let waiting = open.reduce(0) { $0 + members[$1].node.account.waiting }
    return account.waiting == waiting ? nil : "\(account), of which \(waiting) wait"
  }
}

import Testing

@testable import Delegation

@Suite("TopicIndex: one protocol's part of the inbox", .inTurn(.heavy))
struct TopicIndexTests {
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
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscriber = Nobody()
    let node = Structures.node(of: subscriber, in: topicIndex.topic)
    topicIndex.insert(node, as: nil)
    _ = topicIndex.post(Structures.content(), followedBy: Notification())
    let departure = topicIndex.remove(node)
    #expect(departure?.end == 1)
    #expect(departure?.isLast == true)
    #expect(topicIndex.remove(node)?.end == nil)
    #expect(topicIndex.population == 0)
    #expect(topicIndex.takeChanges().left == 1)
  }

  @Test("those of one hash are kept apart, and the last one takes its bucket with it")
  func buckets() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscribers = (0..<3).map { _ in Nobody() }
    let nodes = subscribers.map {
      Structures.node(of: $0, in: topicIndex.topic, identity: Identity(1))
    }
    for node in nodes { topicIndex.insert(node, as: Identity(1)) }
    let hash = Identity(1).hash
    #expect(topicIndex.remove(nodes[1])?.end != nil)
    #expect(
      topicIndex.identified[hash]?.map(ObjectIdentifier.init)
        == [nodes[0], nodes[2]].map(ObjectIdentifier.init))
    _ = topicIndex.remove(nodes[0])
    _ = topicIndex.remove(nodes[2])
    #expect(topicIndex.identified.isEmpty)
  }

  @Test("an object's subscriptions are found by its address, those with an id included")
  func byAddress() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let (one, other) = (Nobody(), Nobody())
    let identities = [nil, Identity("a"), Identity("b"), Identity("a")]
    let nodes = zip([one, one, one, other], identities).enumerated().map { serial, pair in
      Structures.node(of: pair.0, in: topicIndex.topic, serial: serial, identity: pair.1)
    }
    for (node, identity) in zip(nodes, identities) { topicIndex.insert(node, as: identity) }
    func found() -> [Int] {
      topicIndex.subscriptions(at: ObjectIdentifier(one)).map(\.serial).sorted()
    }
    #expect(found() == [0, 1, 2])
    #expect(topicIndex.subscriptions(at: ObjectIdentifier(topicIndex.topic)).isEmpty)
    _ = topicIndex.remove(nodes[1])
    #expect(found() == [0, 2])
    topicIndex.move(nodes[2], from: identities[2], to: nil)
    _ = topicIndex.remove(nodes[0])
    #expect(found() == [2])
    _ = topicIndex.removeAll()
    #expect(found() == [])
  }

  // MARK: Keeping memory bounded

  @Test("changes that nobody takes are heavy from 512 on, joined and left together")
  func heavy() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscriber = Nobody()
    for change in 1...255 {
      let identity = Identity(change)
      let node = Structures.node(of: subscriber, in: topicIndex.topic, identity: identity)
      topicIndex.insert(node, as: identity)
      _ = topicIndex.remove(node)
    }
    topicIndex.insert(Structures.node(of: subscriber, in: topicIndex.topic), as: nil)
    #expect(!topicIndex.isHeavy)
    topicIndex.insert(Structures.node(of: subscriber, in: topicIndex.topic), as: Identity(0))
    #expect(topicIndex.isHeavy)
    _ = topicIndex.takeChanges()
    #expect(!topicIndex.isHeavy)
  }

  @Test("a search for the dead is due at 512, once, then at twice what the last one left")
  func sweeps() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    var subscribers: [Nobody] = []
    var due: [Int] = []
    func insert(upTo population: Int) {
      while topicIndex.population < population {
        subscribers.append(Nobody())
        let node = Structures.node(of: subscribers.last!, in: topicIndex.topic)
        topicIndex.insert(node, as: Identity(topicIndex.population))
        if topicIndex.takeSweep() { due.append(topicIndex.population) }
      }
    }
    insert(upTo: 2000)
    #expect(due == [512])
    topicIndex.didSweep()
    insert(upTo: 6000)
    #expect(due == [512, 4000])
    _ = topicIndex.removeAll()
    topicIndex.didSweep()
    insert(upTo: 600)
    #expect(due == [512, 4000, 512])
  }

  @Test(
    "searches look at few more than subscribed, and the dead are few more than the living",
    arguments: [0, 100, 700])
  func amortised(living: Int) {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    var kept = 0
    var doomed: [SubscriptionNode] = []
    var looks = 0
    var most = 0
    let subscriptions = 20_000
    let subscribers = (0..<subscriptions).map { _ in Nobody() }
    for number in 0..<subscriptions {
      let identity = Identity(number)
      let node = Structures.node(of: subscribers[number], in: topicIndex.topic, identity: identity)
      topicIndex.insert(node, as: identity)
      if kept < living { kept += 1 } else { doomed.append(node) }
      most = max(most, doomed.count)
      if topicIndex.takeSweep() {
        looks += topicIndex.population
        for node in doomed { _ = topicIndex.remove(node) }
        doomed = []
        topicIndex.didSweep()
      }
    }
    #expect(looks > 0)
    #expect(looks <= 2 * subscriptions)
    #expect(most <= max(512, living * 2))
  }
}

/// A topicIndex and, beside it, what it should come to.
private struct LedgerRun {
  private struct Member {
    let subscriber: Nobody
    let node: SubscriptionNode
    let identity: Identity?
    var end: Int?
  }

  private var topicIndex = TopicIndex(topic: Topic(Nobody.self))
  private var members: [Member] = []
  private var posted = 0
  private var addressed = 0
  private var joined: [SubscriptionNode] = []
  private var left = 0

  private var open: [Int] { members.indices.filter { members[$0].end == nil } }

  mutating func take(_ step: TopicIndexTests.Step) -> String? {
    switch step {
    case .insert: insert(nil)
    case .insertWithIdentity: insert(Identity(members.count % 2))
    case .removeFirst: if let fault = remove(open.first) { return fault }
    case .removeLast: if let fault = remove(open.last) { return fault }
    case .removeAll: if let fault = removeAll() { return fault }
    case .post:
      _ = topicIndex.post(Structures.content(), followedBy: Notification())
      posted += 1
      addressed += open.count
    case .takeChanges: if let fault = takeChanges() { return fault }
    }
    return check()
  }

  private mutating func insert(_ identity: Identity?) {
    let subscriber = Nobody()
    let node = Structures.node(
      of: subscriber, in: topicIndex.topic, mailbox: topicIndex.makeMailbox(.unbounded),
      serial: members.count, identity: identity)
    topicIndex.insert(node, as: identity)
    members.append(Member(subscriber: subscriber, node: node, identity: identity))
    joined.append(node)
  }

  private mutating func remove(_ index: Int?) -> String? {
    guard let index else { return nil }
    let end = topicIndex.remove(members[index].node)?.end
    members[index].end = posted
    left += 1
    return end == posted ? nil : "removed at \(String(describing: end)), expected \(posted)"
  }

  private mutating func removeAll() -> String? {
    let removed = Set(topicIndex.removeAll().map(\.serial))
    let expected = Set(open)
    for index in open { members[index].end = posted }
    left += expected.count
    return removed == expected ? nil : "removed \(removed), expected \(expected)"
  }

  private mutating func takeChanges() -> String? {
    let changes = topicIndex.takeChanges()
    defer { (joined, left) = ([], 0) }
    guard changes.joined.elementsEqual(joined, by: ===), changes.left == left else {
      return "changes \(changes.joined.map(\.serial)), \(changes.left) left"
    }
    return nil
  }

  private func check() -> String? {
    let topic = topicIndex.topic.published.load(ordering: .relaxed)
    guard topicIndex.posted == posted, topic == posted else { return "posted \(topicIndex.posted)" }
    guard topicIndex.addressed == addressed else { return "addressed \(topicIndex.addressed)" }
    guard topicIndex.population == open.count else { return "population \(topicIndex.population)" }
    let all = Array(topicIndex.members.values) + topicIndex.identified.values.flatMap(\.self)
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

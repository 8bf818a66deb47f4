import Testing

@testable import Delegation

@Suite("TopicIndex: what a topic keeps under its lock", .inTurn(.heavy))
struct TopicIndexTests {
  enum Step: CaseIterable {
    case insert, insertWithIdentity, removeFirst, removeLast, removeAll, post, merge
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
      if let fault = run.finishTerminations() {
        Issue.record("\(fault) after \(history)")
        return
      }
    }
  }

  @Test("a subscription is removed once")
  func removedOnce() {
    var topicIndex = TopicIndex()
    let subscriber = Nobody()
    let node = Structures.node(of: subscriber)
    topicIndex.insert(node, as: nil)
    topicIndex.post(Structures.content(), to: node.topic, followedBy: Notification())
    #expect(topicIndex.terminate(node) == 1)
    #expect(topicIndex.terminate(node) == nil)
    #expect(topicIndex.population == 0)
    #expect(topicIndex.endings.nodes.map(ObjectIdentifier.init) == [ObjectIdentifier(node)])
    #expect(topicIndex.members.endedCount == 1)
  }

  @Test("those of one hash are kept apart, and the last one takes its bucket with it")
  func buckets() {
    var topicIndex = TopicIndex()
    let subscribers = (0..<3).map { _ in Nobody() }
    let nodes = subscribers.map {
      Structures.node(of: $0, identity: Identity(1))
    }
    for node in nodes { topicIndex.insert(node, as: Identity(1)) }
    let hash = Identity(1).hash
    #expect(topicIndex.terminate(nodes[1]) != nil)
    #expect(
      topicIndex.named(hash).map { ObjectIdentifier($0.node) }
        == [nodes[0], nodes[2]].map(ObjectIdentifier.init))
    #expect(topicIndex.buckets == 1)
    // Other options leave the bucket as it is, however many it has.
    if let options = SubscriptionOptions(of: subscribers[0], policy: .latest) {
      #expect(topicIndex.change(nodes[0], by: options).id === topicIndex.identity(of: nodes[0]))
    }
    #expect(topicIndex.named(hash).first?.node === nodes[0])
    _ = topicIndex.terminate(nodes[0])
    _ = topicIndex.terminate(nodes[2])
    #expect(topicIndex.named(hash).isEmpty)
    #expect(topicIndex.buckets == 0)
  }

  @Test("an object's subscription is found by its address, whether it has an id or not")
  func byAddress() {
    var topicIndex = TopicIndex()
    let subscribers = [Nobody(), Nobody()]
    for (subscriber, identity) in zip(subscribers, [nil, Identity("a")]) {
      let node = Structures.node(of: subscriber, identity: identity)
      topicIndex.insert(node, as: identity)
      #expect(topicIndex.subscription(at: ObjectIdentifier(subscriber)) === node)
      #expect(topicIndex.identity(of: node) === identity)
      #expect(topicIndex.terminate(node) == 0)
      // The subscription keeps it until its termination is finished.
      #expect(node.id === identity)
      #expect(topicIndex.subscription(at: ObjectIdentifier(subscriber)) === nil)
    }
    #expect(topicIndex.subscription(at: ObjectIdentifier(Nobody.self)) === nil)
  }

  // MARK: Keeping memory bounded

  @Test("a merge is due when as many have ended as are open, and no fewer than 512, or all")
  func heavy() {
    var topicIndex = TopicIndex()
    let subscribers = (0..<2000).map { _ in Nobody() }
    for subscriber in subscribers { topicIndex.insert(Structures.node(of: subscriber), as: nil) }
    var due: [Int] = []
    for (number, node) in topicIndex.all.enumerated() {
      _ = topicIndex.terminate(node)
      guard topicIndex.isHeavy else { continue }
      due.append(number + 1)
      topicIndex.merge()
    }
    #expect(due == [1000, 1512, 2000])
    #expect(topicIndex.members.snapshot?.isEmpty == true)
  }

  @Test("a search for the dead is due at 512, once, then at twice what the last one left")
  func sweeps() {
    var topicIndex = TopicIndex()
    var subscribers: [Nobody] = []
    var due: [Int] = []
    func insert(upTo population: Int) {
      while topicIndex.population < population {
        subscribers.append(Nobody())
        let node = Structures.node(of: subscribers.last!)
        topicIndex.insert(node, as: Identity(topicIndex.population))
        if topicIndex.takeSweep() { due.append(topicIndex.population) }
      }
    }
    insert(upTo: 2000)
    #expect(due == [512])
    topicIndex.didSweep()
    insert(upTo: 6000)
    #expect(due == [512, 4000])
    topicIndex.terminateAll()
    topicIndex.didSweep()
    insert(upTo: 600)
    #expect(due == [512, 4000, 512])
  }

  @Test("after a peak a search for the dead is due as early as before it")
  func sweepsAfterAPeak() {
    var topicIndex = TopicIndex()
    let subscribers = (0..<4000).map { _ in Nobody() }
    var due: [Int] = []
    func insert(_ subscribers: some Sequence<Nobody>) {
      for subscriber in subscribers {
        topicIndex.insert(Structures.node(of: subscriber), as: nil)
        if topicIndex.takeSweep() { due.append(topicIndex.population) }
      }
    }
    insert(subscribers.prefix(2000))
    topicIndex.didSweep()
    for node in topicIndex.all.dropFirst(100) { _ = topicIndex.terminate(node) }
    insert(subscribers.dropFirst(2000).prefix(500))
    #expect(due == [512, 512])
  }

  @Test("one that ends while a search is under way makes no other due")
  func endingDuringASweep() {
    var topicIndex = TopicIndex()
    let subscribers = (0..<3000).map { _ in Nobody() }
    var due: [Int] = []
    for subscriber in subscribers {
      let node = Structures.node(of: subscriber)
      topicIndex.insert(node, as: nil)
      guard topicIndex.takeSweep() else { continue }
      due.append(topicIndex.population)
      _ = topicIndex.terminate(node)
    }
    #expect(due == [512])
  }

  @Test("one of many that ends brings no search forward")
  func endingOfOne() {
    var topicIndex = TopicIndex()
    let subscribers = (0..<600).map { _ in Nobody() }
    let nodes = subscribers.map { Structures.node(of: $0) }
    for node in nodes {
      topicIndex.insert(node, as: nil)
      if topicIndex.takeSweep() { topicIndex.didSweep() }
    }
    _ = topicIndex.terminate(nodes[0])
    #expect(topicIndex.takeSweep() == false)
  }

  @Test(
    "searches look at few more than subscribed, and the dead are few more than the living",
    arguments: [0, 100, 700])
  func amortised(living: Int) {
    var topicIndex = TopicIndex()
    var kept = 0
    var doomed: [SubscriptionNode] = []
    var looks = 0
    var most = 0
    let subscriptions = 20_000
    let subscribers = (0..<subscriptions).map { _ in Nobody() }
    for number in 0..<subscriptions {
      let identity = Identity(number)
      let node = Structures.node(of: subscribers[number], identity: identity)
      topicIndex.insert(node, as: identity)
      if kept < living { kept += 1 } else { doomed.append(node) }
      most = max(most, doomed.count)
      if topicIndex.takeSweep() {
        looks += topicIndex.population
        for node in doomed { _ = topicIndex.terminate(node) }
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

  private let topic = Topic(Nobody.self)
  private var topicIndex = TopicIndex()
  private var members: [Member] = []
  private var posted = 0
  private var addressed = 0

  private var open: [Int] { members.indices.filter { members[$0].end == nil } }

  mutating func take(_ step: TopicIndexTests.Step) -> String? {
    switch step {
    case .insert: insert(nil)
    case .insertWithIdentity: insert(Identity(members.count % 2))
    case .removeFirst: if let fault = remove(open.first) { return fault }
    case .removeLast: if let fault = remove(open.last) { return fault }
    case .removeAll: if let fault = removeAll() { return fault }
    case .post:
      topicIndex.post(Structures.content(), to: topic, followedBy: Notification())
      posted += 1
      addressed += open.count
    case .merge:
      topicIndex.merge()
      let snapshot = topicIndex.members.snapshot?.map(\.serial)
      if snapshot != open { return "snapshot \(String(describing: snapshot))" }
    }
    return check()
  }

  private mutating func insert(_ identity: Identity?) {
    let subscriber = Nobody()
    let node = Structures.node(
      of: subscriber, in: topic, mailbox: topicIndex.makeMailbox(.unbounded),
      serial: members.count, identity: identity)
    topicIndex.insert(node, as: identity)
    members.append(Member(subscriber: subscriber, node: node, identity: identity))
  }

  private mutating func remove(_ index: Int?) -> String? {
    guard let index else { return nil }
    let end = topicIndex.terminate(members[index].node)
    members[index].end = posted
    return end == posted ? nil : "removed at \(String(describing: end)), expected \(posted)"
  }

  private mutating func removeAll() -> String? {
    topicIndex.terminateAll()
    for index in open { members[index].end = posted }
    return nil
  }

  private func check() -> String? {
    let published = topic.published.load(ordering: .relaxed)
    guard topicIndex.posted == posted, published == posted else {
      return "posted \(topicIndex.posted)"
    }
    guard topicIndex.addressed == addressed else { return "addressed \(topicIndex.addressed)" }
    guard topicIndex.population == open.count else { return "population \(topicIndex.population)" }
    let all = topicIndex.all
    let ended = topicIndex.endings.nodes.map(\.serial).sorted()
    guard ended == members.indices.filter({ members[$0].end != nil }) else { return "ended" }
    guard all.map(\.serial).sorted() == open else { return "members \(all.map(\.serial))" }
    for (index, member) in members.enumerated() where member.node.isOpen != (member.end == nil) {
      return "member \(index) is open: \(member.node.isOpen)"
    }
    return nil
  }

  /// Closes all that have been removed: then the accounts add up to what was addressed.
  func finishTerminations() -> String? {
    for member in members {
      if let end = member.end { member.node.finishTermination(at: end, as: .cancelled) }
    }
    var account = Account()
    for member in members { account += member.node.account }
    guard account.addressed == addressed else { return "\(account), addressed \(addressed)" }
    let waiting = open.reduce(0) { $0 + members[$1].node.account.waiting }
    return account.waiting == waiting ? nil : "\(account), of which \(waiting) wait"
  }
}

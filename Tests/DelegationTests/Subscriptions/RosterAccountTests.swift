import Testing

@testable import Delegation

@Suite("Roster: what the hub's actor keeps of a protocol")
struct RosterAccountTests {
  @Test("the last one is released with the changes that tell of its end")
  func last() {
    let scene = RosterScene(1)
    let obituary = Obituary(of: scene.nodes[0]!)
    scene.end(0)
    scene.applyChanges()
    #expect(obituary.isDead)
    #expect(scene.roster.overview().finished == Account(handled: 1))
    #expect(scene.roster.overview().nodes.isEmpty)
  }

  @Test("one of many is released with the next snapshot, and its account is kept")
  func oneOfMany() {
    let scene = RosterScene(4)
    let obituary = Obituary(of: scene.nodes[1]!)
    scene.end(1)
    scene.applyChanges()
    // Who looks into it meets the account either among the subscriptions or among the finished ones.
    #expect(scene.handled == 4)
    #expect(scene.roster.snapshot().map(\.serial) == [0, 2, 3])
    #expect(obituary.isDead)
    #expect(scene.roster.overview().finished == Account(handled: 1))
    #expect(scene.handled == 4)
  }

  @Test("those that leave one by one are released, whoever asks for nothing")
  func oneByOne() {
    let scene = RosterScene(64)
    let obituaries = scene.nodes.map { Obituary(of: $0!) }
    for index in scene.nodes.indices {
      scene.end(index)
      scene.applyChanges()
      let dead = obituaries.count { $0.isDead }
      #expect((index + 1) - dead <= 64 - (index + 1))
      #expect(scene.roster.finished.handled == dead)
    }
    #expect(scene.roster.overview().nodes.isEmpty)
  }

  @Test("one that leaves while it handles something stays in sight until it has, and no longer")
  func leaving() {
    let scene = RosterScene(1)
    let obituary = Obituary(of: scene.nodes[0]!)
    scene.post()
    #expect(scene.nodes[0]!.begin() != nil)
    let node = scene.nodes[0]
    scene.end(0)
    scene.applyChanges()
    #expect(scene.roster.overview().finished == Account())
    #expect(scene.roster.overview().nodes.map(\.account) == [Account(handled: 1, handling: 1)])
    #expect(scene.roster.snapshot().isEmpty)
    _ = node?.advance(after: .handled)
    scene.applyChanges()
    #expect(scene.roster.overview().finished == Account(handled: 2))
    #expect(scene.roster.overview().nodes.isEmpty)
    #expect(!obituary.isDead)
    withExtendedLifetime(node) {}
  }

  @Test("another rank shows in the next snapshot, and only then")
  func ranks() {
    let scene = RosterScene(3)
    #expect(scene.roster.snapshot().map(\.serial) == [0, 1, 2])
    scene.topicIndex.rank(scene.nodes[2]!, 1)
    #expect(scene.roster.snapshot().map(\.serial) == [0, 1, 2])
    scene.applyChanges()
    #expect(scene.roster.snapshot().map(\.serial) == [2, 0, 1])
  }

  @Test("while others' ranks change, those that have one rank are served in their order")
  func ranksThatChange() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscribers = (0..<5).map { _ in Nobody() }
    let nodes = subscribers.prefix(4).map { Structures.subscribe($0, in: inbox) }
    var roster = Roster(topic: nodes[0].topic)
    for changes in inbox.takeUpdates(asWake: false).changes { roster.apply(changes) }
    _ = Structures.subscribe(subscribers[4], in: inbox, priority: 1)
    for changes in inbox.takeUpdates(asWake: false).changes { roster.apply(changes) }
    // The roster has to sort, and has not been told of this one's rank.
    _ = Structures.subscribe(subscribers[2], in: inbox, priority: 2)
    #expect(roster.snapshot().map(\.serial) == [5, 1, 2, 3, 4])
    for changes in inbox.takeUpdates(asWake: false).changes { roster.apply(changes) }
    #expect(roster.snapshot().map(\.serial) == [3, 5, 1, 2, 4])
  }
}

/// A topicIndex, the roster that it tells, and subscribers each of which has handled something.
private final class RosterScene {
  var topicIndex = TopicIndex(topic: Topic(Nobody.self))
  var roster: Roster
  var nodes: [SubscriptionNode?] = []
  private var subscribers: [Nobody] = []

  init(_ count: Int) {
    roster = Roster(topic: topicIndex.topic)
    for serial in 0..<count {
      subscribers.append(Nobody())
      let node = Structures.node(
        of: subscribers[serial], in: topicIndex.topic, mailbox: topicIndex.makeMailbox(.unbounded),
        serial: serial)
      topicIndex.insert(node, as: nil)
      nodes.append(node)
    }
    applyChanges()
    post()
    for node in nodes { node?.visit() }
  }

  /// What all have handled together, including the finished ones.
  var handled: Int {
    let overview = roster.overview()
    return overview.nodes.reduce(overview.finished.handled) { $0 + $1.account.handled }
  }

  func post() {
    _ = topicIndex.post(Structures.content(), followedBy: Notification())
  }

  /// Tells the roster what has happened.
  func applyChanges() {
    roster.apply(topicIndex.takeChanges())
  }

  /// Ends a subscription and releases it.
  func end(_ index: Int) {
    guard let node = nodes[index], let end = topicIndex.terminate(node)?.end else { return }
    node.finishTermination(at: end, as: .cancelled)
    nodes[index] = nil
  }
}

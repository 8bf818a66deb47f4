import Testing

@testable import Delegation

@Suite("PublishedSnapshots: what callers see without the hub's actor")
struct PublishedSnapshotsTests {
  /// One more type than the given one.
  private enum More<T> {}

  /// Topics of that many protocols, each with one subscription.
  private struct Cast {
    private let subscribers: [Nobody]
    let topics: [Topic]
    let nodes: [SubscriptionNode]

    init(_ count: Int) {
      var type: Any.Type = Nobody.self
      let subscribers = (0..<count).map { _ in Nobody() }
      let topics = subscribers.map { _ in
        defer { type = Self.more(type) }
        return Topic(type)
      }
      self.subscribers = subscribers
      self.topics = topics
      nodes = zip(subscribers, topics).map { Structures.node(of: $0, in: $1) }
    }

    private static func more(_ type: Any.Type) -> Any.Type {
      func more<T>(_ type: T.Type) -> Any.Type { More<T>.self }
      return _openExistential(type, do: more)
    }
  }

  @Test("a snapshot is present until its protocol has another change")
  func change() {
    let cast = Cast(2)
    let (topic, other) = (cast.topics[0], cast.topics[1])
    var snapshots = PublishedSnapshots()
    #expect(snapshots.present(of: topic.key) == nil)
    topic.lastChange.store(3, ordering: .relaxed)
    snapshots.publish([cast.nodes[0]], of: topic, asOf: 3)
    snapshots.publish([], of: other, asOf: 0)
    #expect(snapshots.present(of: topic.key)?.map(\.identityBits) == [cast.nodes[0].identityBits])
    #expect(snapshots.present(of: other.key)?.isEmpty == true)
    topic.lastChange.store(4, ordering: .relaxed)
    #expect(snapshots.present(of: topic.key) == nil)
    #expect(snapshots.present(of: other.key)?.isEmpty == true)
    snapshots.publish([], of: topic, asOf: 4)
    #expect(snapshots.present(of: topic.key)?.isEmpty == true)
  }

  @Test("one of a change that is not the last is not present, however late it is published")
  func late() {
    let cast = Cast(1)
    let topic = cast.topics[0]
    topic.lastChange.store(2, ordering: .relaxed)
    var snapshots = PublishedSnapshots()
    snapshots.publish(cast.nodes, of: topic, asOf: 1)
    #expect(snapshots.present(of: topic.key) == nil)
    snapshots.publish(cast.nodes, of: topic, asOf: 2)
    #expect(snapshots.present(of: topic.key)?.count == 1)
  }

  @Test("one that is withdrawn is not present, is given out, and is not kept")
  func withdraw() {
    let topic = Topic(Nobody.self)
    var snapshots = PublishedSnapshots()
    #expect(snapshots.withdraw(topic).isEmpty)
    let obituary: Obituary
    do {
      let node = Structures.node(of: Nobody(), in: topic)
      obituary = Obituary(of: node)
      snapshots.publish([node], of: topic, asOf: 0)
      #expect(snapshots.withdraw(topic).map(\.identityBits) == [node.identityBits])
    }
    #expect(snapshots.present(of: topic.key) == nil)
    #expect(snapshots.withdraw(topic).isEmpty)
    #expect(obituary.isDead)
    snapshots.publish([], of: topic, asOf: 0)
    #expect(snapshots.present(of: topic.key)?.isEmpty == true)
  }

  @Test("the hub publishes what a question has asked for, until somebody subscribes or leaves")
  func published() async {
    let hub = DelegateHub()
    let probes = Probe.many(2)
    func count() -> Int? { hub.publishedSnapshot(of: ObjectIdentifier((any Listener).self))?.count }
    for number in 1...2 {
      hub.subscribe(probes[number - 1], to: Listener.self)
      #expect(count() == nil)
      #expect(await hub.vote(Listener.self) { _ in true })
      #expect(count() == number)
    }
    hub.unsubscribe(probes[0])
    #expect(count() == nil)
    #expect(await hub.vote(Listener.self) { await Self.isThere($0) })
    #expect(count() == 1)
  }

  private static func isThere(_ probe: any Listener) async -> Bool { true }

  @Test("of many protocols, each has its own, whichever of them came first")
  func many() {
    let cast = Cast(100)
    var snapshots = PublishedSnapshots()
    for index in cast.topics.indices {
      snapshots.publish([cast.nodes[index]], of: cast.topics[index], asOf: 0)
      // Those that came before are there, the others are not.
      for (other, topic) in cast.topics.enumerated() {
        let seen = snapshots.present(of: topic.key)?.map(\.identityBits)
        #expect(seen == (other <= index ? [cast.nodes[other].identityBits] : nil))
      }
    }
    for index in stride(from: 0, to: 100, by: 3) { _ = snapshots.withdraw(cast.topics[index]) }
    for index in stride(from: 1, to: 100, by: 3) {
      cast.topics[index].lastChange.store(1, ordering: .relaxed)
    }
    for (index, topic) in cast.topics.enumerated() {
      #expect((snapshots.present(of: topic.key) != nil) == (index % 3 == 2))
    }
  }
}

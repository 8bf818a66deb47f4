import Testing

@testable import Delegation

@Suite("TopicIndex: what is posted, and what is told")
struct TopicIndexPostingTests {
  @Test("what is posted goes to the end of the chain, each behind the one before")
  func chain() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let handled = Recorder<Int>()
    let subscribers = [Nobody(), Nobody()]
    var nodes: [SubscriptionNode] = []
    for number in 0..<4 {
      if number % 2 == 0 {
        nodes.append(
          Structures.node(
            of: subscribers[nodes.count], in: topicIndex.topic,
            mailbox: topicIndex.makeMailbox(.unbounded)))
        topicIndex.insert(nodes.last!, as: nil)
      }
      let content = Structures.content { handled.record(number) }
      _ = topicIndex.post(content, followedBy: Notification())
    }
    for node in nodes { node.visit() }
    #expect(handled.history == [0, 1, 2, 3, 2, 3])
  }

  @Test("nothing is posted if there is nobody to hear it")
  func heard() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscriber = Nobody()
    #expect(topicIndex.postIfHeard(Structures.content(), followedBy: Notification()) == nil)
    #expect(topicIndex.posted == 0)
    let node = Structures.node(of: subscriber, in: topicIndex.topic)
    topicIndex.insert(node, as: nil)
    #expect(topicIndex.postIfHeard(Structures.content(), followedBy: Notification()) != nil)
    #expect(topicIndex.posted == 1)
    _ = topicIndex.terminate(node)
    #expect(topicIndex.postIfHeard(Structures.content(), followedBy: Notification()) == nil)
    #expect(topicIndex.posted == 1)
  }

  @Test("a receipt learns the number of what is posted, and how many are to pass it")
  func receipt() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscribers = (0..<3).map { _ in Nobody() }
    let nodes = subscribers.map {
      Structures.node(of: $0, in: topicIndex.topic, mailbox: topicIndex.makeMailbox(.unbounded))
    }
    for node in nodes { topicIndex.insert(node, as: nil) }
    _ = topicIndex.post(Structures.content(), followedBy: Notification())
    for node in nodes { node.visit() }
    var content = Structures.content()
    let receipt = Receipt()
    content.receipt = receipt
    _ = topicIndex.post(content, followedBy: Notification())
    #expect(receipt.outstanding.value == 3)
    #expect(nodes.map { $0.hasPending(receipt) } == [true, true, true])
    nodes[1].visit()
    #expect(receipt.outstanding.value == 2)
    #expect(nodes.map { $0.hasPending(receipt) } == [true, false, true])
  }

  @Test("each wake is told once that there is something to fan out")
  func lanes() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let told = [0, 0, 1, 1, 1, 2].map { topicIndex.markPending(for: $0) }
    #expect(told == [true, false, true, false, false, true])
  }

  @Test("that there are changes is told once until they are taken")
  func changed() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let told = [1, 2].map { _ in topicIndex.markChanged() }
    _ = topicIndex.takeChanges()
    #expect(told + [topicIndex.markChanged()] == [true, false, true])
  }

  @Test("another rank is told once")
  func ranks() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscriber = Nobody()
    let node = Structures.node(of: subscriber, in: topicIndex.topic)
    topicIndex.insert(node, as: nil)
    #expect(topicIndex.takeChanges().ranked.isEmpty)
    topicIndex.rank(node, 3)
    let changes = topicIndex.takeChanges()
    #expect(changes.ranked.map(\.rank) == [3])
    #expect(changes.ranked.first?.node === node)
    #expect(topicIndex.takeChanges().ranked.isEmpty)
  }

  @Test("to take another one's place is one change, and none that is told as an end")
  func takeOvers() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscriber = Nobody()
    var node = Structures.node(of: subscriber, in: topicIndex.topic)
    topicIndex.insert(node, as: nil)
    for count in 2...TopicIndex.smallestSweep {
      #expect(!topicIndex.isHeavy)
      let successor = Structures.node(of: subscriber, in: topicIndex.topic)
      _ = topicIndex.terminate(node)
      topicIndex.insert(successor, as: nil, inPlaceOf: node)
      node = successor
      #expect(topicIndex.changes.count == count)
    }
    #expect(topicIndex.isHeavy)
    let changes = topicIndex.takeChanges()
    #expect(changes.terminated == 0)
    #expect(changes.replaced.count == TopicIndex.smallestSweep - 1)
  }

  @Test("one that is given another id, or the same again, is found by it, and by its address")
  func renaming() throws {
    let identities = [nil, Identity("a"), Identity("b")]
    for former in identities {
      for identity in [Identity("a"), Identity("b")] {
        var topicIndex = TopicIndex(topic: Topic(Nobody.self))
        let subscriber = Nobody()
        let node = Structures.node(of: subscriber, in: topicIndex.topic, identity: former)
        topicIndex.insert(node, as: former)
        // What is no longer used is released by the caller.
        let newer = try #require(SubscriptionOptions(id: identity))
        let (present, replaced) = topicIndex.change(node, by: newer)
        #expect(present.id === identity)
        #expect(replaced?.id === former)
        #expect(topicIndex.subscription(at: ObjectIdentifier(subscriber)) === node)
        #expect(topicIndex.identity(of: node) === identity)
        #expect(topicIndex.population == 1)
        for other in [Identity("a"), Identity("b")] {
          let found = topicIndex.named(other.hash)
          #expect(found.count == (other.hash == identity.hash ? 1 : 0))
          #expect(found.allSatisfy { $0.node === node && $0.identity === identity })
        }
      }
    }
  }

  @Test("when all are removed, nobody is found any more, whatever they were subscribed as")
  func removal() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscribers = (0..<3).map { _ in Nobody() }
    let identities = [nil, Identity("a"), Identity("b")]
    for (serial, identity) in identities.enumerated() {
      let node = Structures.node(
        of: subscribers[serial], in: topicIndex.topic, serial: serial, identity: identity)
      topicIndex.insert(node, as: identity)
    }
    topicIndex.terminateAll()
    #expect(topicIndex.population == 0)
    for subscriber in subscribers {
      #expect(topicIndex.subscription(at: ObjectIdentifier(subscriber)) === nil)
    }
    let found = identities.compactMap { $0 }.flatMap { topicIndex.named($0.hash) }
    #expect(found.isEmpty)
  }
}

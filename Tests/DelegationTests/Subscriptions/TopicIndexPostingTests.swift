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
    _ = topicIndex.remove(node)
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
    #expect(nodes.map { $0.owes(receipt) } == [true, true, true])
    nodes[1].visit()
    #expect(receipt.outstanding.value == 2)
    #expect(nodes.map { $0.owes(receipt) } == [true, false, true])
  }

  @Test("a fan-out is due with the first one posted since the last fan-out set out")
  func fanOuts() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    func isFirst() -> Bool {
      topicIndex.post(Structures.content(), followedBy: Notification()).isFirst
    }
    #expect([isFirst(), isFirst(), isFirst()] == [true, false, false])
    #expect(topicIndex.beginFanOut() === topicIndex.topic)
    #expect(topicIndex.markPending() == true)
    #expect(topicIndex.markPending() == false)
    #expect(!isFirst())
    _ = topicIndex.beginFanOut()
    #expect(isFirst())
  }

  @Test("that ranks have changed is told once")
  func reordering() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    #expect(!topicIndex.takeChanges().isReordered)
    topicIndex.reorder()
    #expect(topicIndex.changes.isReordered)
    #expect(topicIndex.takeChanges().isReordered)
    #expect(!topicIndex.takeChanges().isReordered)
  }

  @Test("whoever is given another identity, or the same again, is found by it, and by its address")
  func moving() {
    let identities = [nil, Identity("a"), Identity("b")]
    for former in identities {
      for identity in identities {
        var topicIndex = TopicIndex(topic: Topic(Nobody.self))
        let subscriber = Nobody()
        let node = Structures.node(of: subscriber, in: topicIndex.topic, identity: former)
        topicIndex.insert(node, as: former)
        topicIndex.move(node, from: former, to: identity)
        let found = topicIndex.subscriptions(at: ObjectIdentifier(subscriber))
        #expect(found.map(ObjectIdentifier.init) == [ObjectIdentifier(node)])
        #expect(topicIndex.members.count == (identity == nil ? 1 : 0))
        #expect(Array(topicIndex.identified.keys) == (identity.map { [$0.hash] } ?? []))
        #expect(topicIndex.population == 1)
      }
    }
  }

  @Test("when all are removed, nobody is found any more, whatever they were subscribed as")
  func removal() {
    var topicIndex = TopicIndex(topic: Topic(Nobody.self))
    let subscriber = Nobody()
    for (serial, identity) in [nil, Identity("a"), Identity("b")].enumerated() {
      let node = Structures.node(
        of: subscriber, in: topicIndex.topic, serial: serial, identity: identity)
      topicIndex.insert(node, as: identity)
    }
    #expect(Set(topicIndex.removeAll().map(\.serial)) == [0, 1, 2])
    #expect(topicIndex.subscriptions(at: ObjectIdentifier(subscriber)).isEmpty)
    #expect(topicIndex.members.isEmpty)
    #expect(topicIndex.identified.isEmpty)
    #expect(topicIndex.removeAll().isEmpty)
  }
}

import Testing

@testable import Delegation

@Suite("TopicIndex: what is posted, and who is who")
struct TopicIndexPostingTests {
  @Test("what is posted goes to the end of the chain, each behind the one before")
  func chain() {
    let topic = Topic(Nobody.self)
    var topicIndex = TopicIndex()
    let handled = Recorder<Int>()
    let subscribers = [Nobody(), Nobody()]
    var nodes: [SubscriptionNode] = []
    for number in 0..<4 {
      if number % 2 == 0 {
        nodes.append(
          Structures.node(
            of: subscribers[nodes.count], in: topic,
            mailbox: topicIndex.makeMailbox(.unbounded)))
        topicIndex.insert(nodes.last!, as: nil)
      }
      let content = Structures.content { handled.record(number) }
      topicIndex.post(content, to: topic, followedBy: Notification())
    }
    for node in nodes { node.visit() }
    #expect(handled.history == [0, 1, 2, 3, 2, 3])
  }

  @Test("a receipt learns the number of what is posted, and how many are to pass it")
  func receipt() {
    let topic = Topic(Nobody.self)
    var topicIndex = TopicIndex()
    let subscribers = (0..<3).map { _ in Nobody() }
    let nodes = subscribers.map {
      Structures.node(of: $0, in: topic, mailbox: topicIndex.makeMailbox(.unbounded))
    }
    for node in nodes { topicIndex.insert(node, as: nil) }
    topicIndex.post(Structures.content(), to: topic, followedBy: Notification())
    for node in nodes { node.visit() }
    var content = Structures.content()
    let receipt = Receipt()
    content.receipt = receipt
    topicIndex.post(content, to: topic, followedBy: Notification())
    #expect(receipt.outstanding.value == 3)
    #expect(nodes.map { $0.hasPending(receipt) } == [true, true, true])
    nodes[1].visit()
    #expect(receipt.outstanding.value == 2)
    #expect(nodes.map { $0.hasPending(receipt) } == [true, false, true])
  }

  @Test("a lane is requested once until it begins")
  func lanes() {
    var topicIndex = TopicIndex()
    let isRequested = [false, false, true, false].map { begins in
      if begins { topicIndex.isLaneDue = false }
      return topicIndex.requestLane()
    }
    #expect(isRequested == [true, false, true, false])
  }

  @Test("one that is given another id, or the same again, is found by it, and by its address")
  func renaming() throws {
    let identities = [nil, Identity("a"), Identity("b")]
    for former in identities {
      for identity in [Identity("a"), Identity("b")] {
        var topicIndex = TopicIndex()
        let subscriber = Nobody()
        let node = Structures.node(of: subscriber, identity: former)
        topicIndex.insert(node, as: former)
        let newer = try #require(SubscriptionOptions(id: identity))
        #expect(topicIndex.change(node, by: newer).id === identity)
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
    var topicIndex = TopicIndex()
    let subscribers = (0..<3).map { _ in Nobody() }
    let identities = [nil, Identity("a"), Identity("b")]
    for (serial, identity) in identities.enumerated() {
      let node = Structures.node(
        of: subscribers[serial], serial: serial, identity: identity)
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

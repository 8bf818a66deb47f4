import Testing

@testable import Delegation

@Suite("Ledger: what is posted, and what is told")
struct LedgerPostingTests {
  @Test("what is posted goes to the end of the chain, each behind the one before")
  func chain() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    let handled = Recorder<Int>()
    let subscribers = [Nobody(), Nobody()]
    var nodes: [SubscriptionNode] = []
    for number in 0..<4 {
      if number % 2 == 0 {
        nodes.append(
          Structures.node(
            of: subscribers[nodes.count], in: ledger.channel,
            mailbox: ledger.makeMailbox(.unbounded)))
        ledger.insert(nodes.last!, as: nil)
      }
      let content = Structures.content { handled.record(number) }
      _ = ledger.post(content, followedBy: Notification())
    }
    for node in nodes { node.visit() }
    #expect(handled.history == [0, 1, 2, 3, 2, 3])
  }

  @Test("nothing is posted if there is nobody to hear it")
  func heard() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    let subscriber = Nobody()
    #expect(ledger.postIfHeard(Structures.content(), followedBy: Notification()) == nil)
    #expect(ledger.posted == 0)
    let node = Structures.node(of: subscriber, in: ledger.channel)
    ledger.insert(node, as: nil)
    #expect(ledger.postIfHeard(Structures.content(), followedBy: Notification()) != nil)
    #expect(ledger.posted == 1)
    _ = ledger.remove(node)
    #expect(ledger.postIfHeard(Structures.content(), followedBy: Notification()) == nil)
    #expect(ledger.posted == 1)
  }

  @Test("a receipt learns the number of what is posted, and how many are to pass it")
  func receipt() {
    let inbox = Inbox()
    var ledger = Ledger(channel: Channel(Nobody.self, inbox: inbox))
    let subscribers = (0..<3).map { _ in Nobody() }
    let nodes = subscribers.map {
      Structures.node(of: $0, in: ledger.channel, mailbox: ledger.makeMailbox(.unbounded))
    }
    for node in nodes { ledger.insert(node, as: nil) }
    _ = ledger.post(Structures.content(), followedBy: Notification())
    for node in nodes { node.visit() }
    var content = Structures.content()
    let receipt = Receipt(inbox: inbox)
    content.receipt = receipt
    _ = ledger.post(content, followedBy: Notification())
    #expect(receipt.outstanding == 3)
    #expect(nodes.map(receipt.isOutstanding) == [true, true, true])
    nodes[1].visit()
    #expect(receipt.outstanding == 2)
    #expect(nodes.map(receipt.isOutstanding) == [true, false, true])
  }

  @Test("a wave is due with the first one posted since the last wave set out")
  func waves() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    func isFirst() -> Bool {
      ledger.post(Structures.content(), followedBy: Notification()).isFirst
    }
    #expect([isFirst(), isFirst(), isFirst()] == [true, false, false])
    #expect(ledger.beginWave() === ledger.channel)
    #expect(ledger.takeDirt() == true)
    #expect(ledger.takeDirt() == false)
    #expect(!isFirst())
    _ = ledger.beginWave()
    #expect(isFirst())
  }

  @Test("that ranks have changed is told once")
  func reordering() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    #expect(!ledger.takeChanges().isReordered)
    ledger.reorder()
    #expect(ledger.changes.isReordered)
    #expect(ledger.takeChanges().isReordered)
    #expect(!ledger.takeChanges().isReordered)
  }

  @Test("whoever is given another identity, or the same again, is found by it, and by its address")
  func moving() {
    let identities = [nil, Identity("a"), Identity("b")]
    for former in identities {
      for identity in identities {
        var ledger = Ledger(channel: Channel(Nobody.self))
        let subscriber = Nobody()
        let node = Structures.node(of: subscriber, in: ledger.channel, identity: former)
        ledger.insert(node, as: former)
        ledger.move(node, from: former, to: identity)
        let found = ledger.subscriptions(at: ObjectIdentifier(subscriber))
        #expect(found.map(ObjectIdentifier.init) == [ObjectIdentifier(node)])
        #expect(ledger.members.count == (identity == nil ? 1 : 0))
        #expect(Array(ledger.identified.keys) == (identity.map { [$0.hash] } ?? []))
        #expect(ledger.population == 1)
      }
    }
  }

  @Test("when all are removed, nobody is found any more, whatever they were subscribed as")
  func removal() {
    var ledger = Ledger(channel: Channel(Nobody.self))
    let subscriber = Nobody()
    for (serial, identity) in [nil, Identity("a"), Identity("b")].enumerated() {
      let node = Structures.node(
        of: subscriber, in: ledger.channel, serial: serial, identity: identity)
      ledger.insert(node, as: identity)
    }
    #expect(Set(ledger.removeAll().map(\.serial)) == [0, 1, 2])
    #expect(ledger.subscriptions(at: ObjectIdentifier(subscriber)).isEmpty)
    #expect(ledger.members.isEmpty)
    #expect(ledger.identified.isEmpty)
    #expect(ledger.removeAll().isEmpty)
  }
}

import Testing

@testable import Delegation

@Suite("Inbox: who subscribes when, or as, another one ends", .inTurn)
struct InboxSubscribingTests {
  @Test("one that is dying gets a subscription that has ended, to which nothing was addressed")
  func dying() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let (subscriber, dying) = (Nobody(), Nobody())
    _ = Structures.subscribe(subscriber, in: inbox)
    for _ in 0..<3 { inbox.post(Structures.content(), to: Structures.key) }
    let node = inbox.subscribe(
      SubscriptionRequest(
        object: dying, type: Nobody.self, options: nil, priority: nil,
        site: Site(file: #fileID, line: #line)),
      // Not to the one that subscribes, as no weak reference is any more when it dies.
      reference: WeakReference(subscriber, object: subscriber), to: Nobody.self)
    #expect(!node.isOpen)
    #expect(node.isIdle)
    #expect(node.account == Account())
    #expect(inbox.index(of: Structures.key)?.population == 1)
  }

  @Test("one whose place is taken has not died unheard, though it has dropped what was posted")
  func dropped() {
    let causes = Recorder<String>()
    let inbox = Inbox { causes.record("\($0.kind) \($0.dropped)") }
    defer { inbox.clear() }
    let (former, latter) = (Nobody(), Nobody())
    let node = Structures.subscribe(
      former, in: inbox, identity: Identity("a"), policy: .dropOldest(limit: 1))
    for _ in 0..<2 { inbox.post(Structures.content(), to: Structures.key) }
    #expect(node.account == Account(dropped: 1, waiting: 1))
    _ = Structures.subscribe(latter, in: inbox, identity: Identity("a"))
    #expect(!node.isOpen)
    #expect(causes.history == ["dropped 1"])
  }

  @Test("from the moment at which one ends whose place is taken, the hub has something to do")
  func atWork() {
    let (former, latter) = (Nobody(), Nobody())
    let number = rounds(1_000)
    let worlds = number.map { _ -> (inbox: Inbox, node: SubscriptionNode) in
      let inbox = Inbox()
      let node = Structures.subscribe(former, in: inbox, identity: Identity("a"))
      inbox.post(Structures.content(), to: Structures.key)
      // The hub has come by, and has left what was posted to nobody.
      _ = inbox.takeUpdates(asWake: true)
      inbox.activity.end()
      return (inbox, node)
    }
    defer { for world in worlds { world.inbox.clear() } }
    let workers = Recorder<Int>()
    let meeting = Meeting(of: 2)
    Threads.run(2) { thread in
      for round in number {
        guard meeting.await(round) else { return }
        let (inbox, node) = worlds[round]
        if thread == 0 {
          _ = Structures.subscribe(latter, in: inbox, identity: Identity("a"))
        } else {
          var looks = 0
          while node.isOpen {
            looks += 1
            if looks > 1_000 { Threads.pause() }
          }
          workers.record(inbox.activity.workers.value)
        }
      }
    }
    #expect(!workers.history.isEmpty)
    #expect(!workers.history.contains(0))
  }
}

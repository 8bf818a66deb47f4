import Testing

@testable import Delegation

@Suite("Inbox: what synchronous code says to a hub, in one order")
struct InboxTests {
  // MARK: Telling

  @Test("what is posted to nobody is released at once and wakes nobody")
  func nobody() {
    let inbox = Inbox()
    defer { inbox.clear() }
    weak var probe: Nobody?
    do {
      let captured = Nobody()
      probe = captured
      inbox.post(content(capturing: captured), to: Structures.key)
      Structures.subscribe(captured, in: inbox).terminate(as: .cancelled)
      inbox.post(content(capturing: captured), to: Structures.key)
    }
    #expect(probe == nil)
    #expect(inbox.activity.workers.value == 0)
    #expect(inbox.totals(of: Topic(Nobody.self)).posted == 0)
  }

  @Test("a wake is asked for and counted once until it takes the news; looking in is not taking")
  func oneWake() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let wakes = Wakes(of: inbox)
    _ = Structures.subscribe(subscriber, in: inbox)
    #expect(wakes.count == 0)
    for round in 1...3 {
      inbox.post(Structures.content(), to: Structures.key)
      #expect(wakes.count == round)
      inbox.post(Structures.content(), to: Structures.key)
      #expect(inbox.takeUpdates(asWake: false).pendingWork.pending.isEmpty)
      inbox.post(Structures.content(), to: Structures.key)
      #expect(wakes.count == round)
      #expect(inbox.activity.workers.value == round)
      #expect(inbox.takeUpdates(asWake: true).pendingWork.pending.map(\.key) == [Structures.key])
      #expect(inbox.takeUpdates(asWake: true).pendingWork.pending.isEmpty)
    }
  }

  @Test("a wake that nobody can be woken by is counted until the hub's end, and no longer")
  func noHub() {
    let inbox = Inbox()
    inbox.setWaker {}
    let subscriber = Nobody()
    _ = Structures.subscribe(subscriber, in: inbox)
    inbox.post(Structures.content(), to: Structures.key)
    #expect(inbox.activity.workers.value == 1)
    inbox.clear()
    #expect(inbox.activity.workers.value == 0)
  }

  // MARK: Subscribing

  @Test("the same object again is the same subscription, with new options and its old place")
  func again() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let first = Structures.subscribe(subscriber, in: inbox)
    _ = inbox.takeUpdates(asWake: false)
    let second = Structures.subscribe(subscriber, in: inbox)
    #expect(first === second)
    #expect(
      inbox.takeUpdates(asWake: false).changes.allSatisfy { $0.added.isEmpty && $0.terminated == 0 }
    )
    let third = Structures.subscribe(subscriber, in: inbox, priority: 3)
    #expect(first === third)
    // The hub's actor is told of it, and it alone changes the order.
    #expect(first.rank == 0)
    let changes = inbox.takeUpdates(asWake: false).changes
    #expect(changes.map { $0.ranked.map(\.rank) } == [[3]])
    #expect(changes.map(\.added.count) == [0])
  }

  @Test("the same object under an id, or under another one, is the same subscription")
  func sameUnderIds() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let first = Structures.subscribe(subscriber, in: inbox)
    let second = Structures.subscribe(subscriber, in: inbox, identity: Identity("a"))
    let third = Structures.subscribe(subscriber, in: inbox, identity: Identity("b"))
    #expect(first === second && second === third)
    #expect(inbox.index(of: Structures.key)?.population == 1)
    let index = inbox.index(of: Structures.key)
    let found = ["a", "b"].map { index?.named(Identity($0).hash).count }
    #expect(found == [0, 1])
  }

  @Test("an object whose subscription was ended is subscribed anew", arguments: [nil, "a"])
  func afterTheEnd(id: String?) {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let first = Structures.subscribe(subscriber, in: inbox, identity: id.map(Identity.init))
    first.terminate(as: .cancelled)
    let second = Structures.subscribe(subscriber, in: inbox, identity: id.map(Identity.init))
    #expect(first !== second)
    #expect(second.isOpen)
    inbox.post(Structures.content(), to: Structures.key)
    #expect(second.account == Account(waiting: 1))
  }

  @Test("an object at a dead one's address is another subscriber")
  func reusedAddress() {
    let inbox = Inbox()
    defer { inbox.clear() }
    for _ in 0..<100 {
      var subscriber: Nobody? = Nobody()
      let first = Structures.subscribe(subscriber!, in: inbox)
      inbox.post(Structures.content(), to: Structures.key)
      subscriber = nil
      let successor = Nobody()
      guard ObjectIdentifier(successor) == first.reference.identity else { continue }
      let second = Structures.subscribe(successor, in: inbox)
      #expect(first !== second)
      #expect(!first.isOpen)
      #expect(second.serial > first.serial)
      #expect(first.account == Account(expired: 1))
      #expect(second.account == Account())
      return
    }
    Issue.record("no address was used twice")
  }

  @Test("one that bears an older one's id takes its place, and what waited for it")
  func successor() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let (first, other, second) = (Nobody(), Nobody(), Nobody())
    let old = Structures.subscribe(first, in: inbox, identity: Identity("a"))
    let bystander = Structures.subscribe(other, in: inbox)
    for _ in 0..<3 { inbox.post(Structures.content(), to: Structures.key) }
    let new = Structures.subscribe(second, in: inbox, identity: Identity("a"))
    #expect(!old.isOpen)
    #expect(new.serial == old.serial)
    #expect(old.account == Account())
    #expect(new.account == Account(waiting: 3))
    #expect(bystander.account == Account(waiting: 3))
    #expect(inbox.index(of: Structures.key)?.population == 2)
  }

  @Test("one whose id is given to another subscriber that there is ends as cancelled")
  func displaced() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let (one, other) = (Nobody(), Nobody())
    let displaced = Structures.subscribe(one, in: inbox, identity: Identity("a"))
    let present = Structures.subscribe(other, in: inbox, identity: Identity("b"))
    inbox.post(Structures.content(), to: Structures.key)
    #expect(Structures.subscribe(other, in: inbox, identity: Identity("a")) === present)
    #expect(!displaced.isOpen && present.isOpen)
    #expect(displaced.account == Account(cancelled: 1))
    #expect(present.account == Account(waiting: 1))
  }

  @Test(
    "a successor that takes over what waited is sent a fan-out, as the old one's will not reach it")
  func successorIsWoken() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let (first, second) = (Nobody(), Nobody())
    let old = Structures.subscribe(first, in: inbox, identity: Identity("a"))
    for _ in 0..<3 { inbox.post(Structures.content(), to: Structures.key) }
    // The fan-out has set out for the old one, whose handler is running.
    #expect(inbox.takeUpdates(asWake: true).pendingWork.pending.count == 1)
    #expect(old.begin() != nil)
    let wakes = Wakes(of: inbox)
    let new = Structures.subscribe(second, in: inbox, identity: Identity("a"))
    guard case .done = old.advance(after: .handled) else {
      Issue.record("the old one's worker goes on")
      return
    }
    #expect(new.account.waiting == 2)
    #expect(wakes.count == 1)
    let pendingWork = inbox.takeUpdates(asWake: true).pendingWork
    #expect(pendingWork.pending.isEmpty)
    #expect(pendingWork.due.map(ObjectIdentifier.init) == [ObjectIdentifier(new)])
  }

  // MARK: Ending

  @Test("a terminated subscription is not idle until its account is final")
  func atRestWhenSettled() throws {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let node = Structures.subscribe(subscriber, in: inbox)
    inbox.post(Structures.content(), to: Structures.key)
    let end = try #require(inbox.beginTermination(on: node))
    #expect(!node.isOpen)
    // From here the hub's actor may collect it, if it is idle: its account has to be final.
    #expect(!node.isIdle || node.account.waiting == 0)
    node.finishTermination(at: end, as: .cancelled)
    #expect(node.isIdle)
    #expect(node.account == Account(cancelled: 1))
  }

  @Test("closing all of one protocol leaves the others alone, and closing twice does nothing")
  func terminateAll() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let here = Structures.subscribe(subscriber, in: inbox)
    let there = Structures.subscribe(subscriber, to: Int.self, in: inbox)
    inbox.post(Structures.content(), to: Structures.key)
    inbox.terminateAll(of: Structures.key)
    inbox.terminateAll(of: Structures.key)
    #expect([here.isOpen, there.isOpen] == [false, true])
    #expect(here.account == Account(cancelled: 1))
    let changes = inbox.takeUpdates(asWake: false).changes
    #expect(changes.map(\.terminated).sorted() == [0, 1])
    inbox.terminateAll()
    #expect(!there.isOpen)
  }

  @Test("an object is unsubscribed from everything, or from one protocol, and no other is")
  func terminateMany() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let (one, other) = (Nobody(), Nobody())
    let nodes = [
      Structures.subscribe(one, in: inbox),
      Structures.subscribe(one, to: String.self, in: inbox, identity: Identity(1)),
      Structures.subscribe(one, to: Int.self, in: inbox, identity: Identity(1)),
      Structures.subscribe(other, in: inbox),
    ]
    inbox.terminate(one, of: ObjectIdentifier(Int.self))
    #expect(nodes.map(\.isOpen) == [true, true, false, true])
    inbox.terminate(one)
    #expect(nodes.map(\.isOpen) == [false, false, false, true])
  }

  // MARK: Keeping memory bounded

  @Test("changes that nobody looks at wake the actor once they are heavy")
  func heavy() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let wakes = Wakes(of: inbox)
    var woken: [Int] = []
    for change in 1...600 {
      Structures.subscribe(subscriber, in: inbox).terminate(as: .cancelled)
      if wakes.count > woken.count { woken.append(change) }
    }
    #expect(woken == [256])
    #expect(inbox.takeUpdates(asWake: true).changes.count == 1)
  }

  @Test("the 512th subscriber of a protocol asks for a search for the dead, which is taken once")
  func sweep() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscribers = (0..<1100).map { _ in Nobody() }
    let wakes = Wakes(of: inbox)
    var woken: [Int] = []
    for (index, subscriber) in subscribers.enumerated() {
      _ = Structures.subscribe(subscriber, in: inbox)
      if wakes.count > woken.count {
        woken.append(index + 1)
        #expect(inbox.takeUpdates(asWake: true).pendingWork.sweeps.map(\.key) == [Structures.key])
      } else {
        _ = inbox.takeUpdates(asWake: false)
      }
    }
    #expect(woken == [512])
  }

  private func content(capturing object: Nobody) -> Notification.Content {
    Structures.content { withExtendedLifetime(object) {} }
  }
}

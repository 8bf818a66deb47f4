import Testing

@testable import Delegation

@Suite("Topic: what is said to the subscribers of a protocol, in one order", .inTurn)
struct TopicTests {
  // MARK: Telling

  @Test("what is posted to nobody is released at once, and no lane is requested")
  func nobody() {
    let board = Switchboard()
    defer { board.clear() }
    weak var probe: Nobody?
    do {
      let captured = Nobody()
      probe = captured
      #expect(!board.topic().post(content(capturing: captured)))
      Structures.subscribe(captured, in: board).terminate(as: .cancelled)
      #expect(!board.topic().post(content(capturing: captured)))
    }
    #expect(probe == nil)
    #expect(board.activity.workers.value == 0)
    #expect(board.index(of: Structures.key)?.posted == 0)
  }

  @Test("a lane is requested and counted once until it begins, with those that are open then")
  func oneLane() {
    let board = Switchboard()
    defer { board.clear() }
    let subscribers = [Nobody(), Nobody()]
    let first = Structures.subscribe(subscribers[0], in: board)
    for round in 1...3 {
      let isRequested = (0..<3).map { _ in board.post(Structures.content(), to: Structures.key) }
      #expect(isRequested == [true, false, false])
      #expect(board.activity.workers.value == 1)
      let second = Structures.subscribe(subscribers[1], in: board)
      #expect(board.beginLane().map(\.serial) == [first.serial, second.serial])
      #expect(board.activity.workers.value == 0)
      #expect(first.account == Account(waiting: 3 * round))
      second.terminate(as: .cancelled)
    }
  }

  // MARK: Subscribing

  @Test("the same object again is the same subscription, with new options and its old place")
  func again() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let first = Structures.subscribe(subscriber, in: board)
    let other = Structures.subscribe(Nobody(), in: board)
    #expect(Structures.subscribe(subscriber, in: board) === first)
    #expect(first.topic.snapshot().map(\.serial) == [first.serial, other.serial])
    #expect(Structures.subscribe(subscriber, in: board, priority: -3) === first)
    #expect(first.rank == -3)
    #expect(first.topic.snapshot().map(\.serial) == [other.serial, first.serial])
  }

  @Test("the same object under an id, or under another one, is the same subscription")
  func sameUnderIds() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let first = Structures.subscribe(subscriber, in: board)
    let second = Structures.subscribe(subscriber, in: board, identity: Identity("a"))
    let third = Structures.subscribe(subscriber, in: board, identity: Identity("b"))
    #expect(first === second && second === third)
    #expect(board.index(of: Structures.key)?.population == 1)
    let index = board.index(of: Structures.key)
    let found = ["a", "b"].map { index?.named(Identity($0).hash).count }
    #expect(found == [0, 1])
  }

  @Test("an object whose subscription was ended is subscribed anew", arguments: [nil, "a"])
  func afterTheEnd(id: String?) {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let first = Structures.subscribe(subscriber, in: board, identity: id.map(Identity.init))
    first.terminate(as: .cancelled)
    let second = Structures.subscribe(subscriber, in: board, identity: id.map(Identity.init))
    #expect(first !== second)
    #expect(second.isOpen)
    board.post(Structures.content(), to: Structures.key)
    #expect(second.account == Account(waiting: 1))
  }

  @Test("an object at a dead one's address is another subscriber")
  func reusedAddress() {
    let board = Switchboard()
    defer { board.clear() }
    for _ in 0..<100 {
      var subscriber: Nobody? = Nobody()
      let first = Structures.subscribe(subscriber!, in: board)
      board.post(Structures.content(), to: Structures.key)
      subscriber = nil
      let successor = Nobody()
      guard ObjectIdentifier(successor) == first.reference.identity else { continue }
      let second = Structures.subscribe(successor, in: board)
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
    let board = Switchboard()
    defer { board.clear() }
    let (first, other, second) = (Nobody(), Nobody(), Nobody())
    let old = Structures.subscribe(first, in: board, identity: Identity("a"))
    let bystander = Structures.subscribe(other, in: board)
    for _ in 0..<3 { board.post(Structures.content(), to: Structures.key) }
    let new = Structures.subscribe(second, in: board, identity: Identity("a"))
    #expect(!old.isOpen)
    #expect(new.serial == old.serial)
    #expect(old.account == Account())
    #expect(new.account == Account(waiting: 3))
    #expect(bystander.account == Account(waiting: 3))
    #expect(board.index(of: Structures.key)?.population == 2)
  }

  @Test("one whose id is given to another subscriber that there is ends as cancelled")
  func displaced() {
    let board = Switchboard()
    defer { board.clear() }
    let (one, other) = (Nobody(), Nobody())
    let displaced = Structures.subscribe(one, in: board, identity: Identity("a"))
    let present = Structures.subscribe(other, in: board, identity: Identity("b"))
    board.post(Structures.content(), to: Structures.key)
    #expect(Structures.subscribe(other, in: board, identity: Identity("a")) === present)
    #expect(!displaced.isOpen && present.isOpen)
    #expect(displaced.account == Account(cancelled: 1))
    #expect(present.account == Account(waiting: 1))
  }

  @Test(
    "a successor that takes over what waited gets a worker, as the old one's lane will not reach it"
  )
  func successorIsServed() {
    let board = Switchboard()
    defer { board.clear() }
    let (first, second) = (Nobody(), Nobody())
    let old = Structures.subscribe(first, in: board, identity: Identity("a"))
    for _ in 0..<3 { board.post(Structures.content(), to: Structures.key) }
    // The lane has set out for the old one, whose handler is running.
    #expect(board.beginLane().count == 1)
    #expect(old.begin() != nil)
    let new = Structures.subscribe(second, in: board, identity: Identity("a"))
    guard case .done = old.advance(after: .handled) else {
      Issue.record("the old one's worker goes on")
      return
    }
    #expect(new.account.waiting == 2)
    #expect(board.takeRequested().map(ObjectIdentifier.init) == [ObjectIdentifier(new)])
  }

  // MARK: Ending

  @Test("a terminated subscription is not idle until its account is final")
  func atRestWhenSettled() throws {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let node = Structures.subscribe(subscriber, in: board)
    board.post(Structures.content(), to: Structures.key)
    let end = try #require(board.beginTermination(on: node))
    #expect(!node.isOpen)
    // A handler that ends now finds that it is terminated, and its account not final.
    node.finish()
    #expect(board.index(of: Structures.key)?.endings.nodes.count == 1)
    #expect(!node.isIdle)
    node.finishTermination(at: end, as: .cancelled)
    #expect(node.isIdle)
    #expect(node.account == Account(cancelled: 1))
    #expect(board.index(of: Structures.key)?.endings.nodes.isEmpty == true)
    #expect(board.index(of: Structures.key)?.endings.counts == Account(cancelled: 1))
  }

  @Test("closing all of one protocol leaves the others alone, and closing twice does nothing")
  func terminateAll() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let here = Structures.subscribe(subscriber, in: board)
    let there = Structures.subscribe(subscriber, to: Int.self, in: board)
    board.post(Structures.content(), to: Structures.key)
    board.topic().terminateAll()
    board.topic().terminateAll()
    #expect([here.isOpen, there.isOpen] == [false, true])
    #expect(here.account == Account(cancelled: 1))
    #expect(board.index(of: Structures.key)?.endings.counts == Account(cancelled: 1))
    #expect(here.topic.isHeard.load(ordering: .relaxed) == false)
    #expect(there.topic.isHeard.load(ordering: .relaxed) == true)
    board.terminateAll()
    #expect(!there.isOpen)
  }

  @Test("an object is unsubscribed from everything, or from one protocol, and no other is")
  func terminateMany() {
    let board = Switchboard()
    defer { board.clear() }
    let (one, other) = (Nobody(), Nobody())
    let nodes = [
      Structures.subscribe(one, in: board),
      Structures.subscribe(one, to: String.self, in: board, identity: Identity(1)),
      Structures.subscribe(one, to: Int.self, in: board, identity: Identity(1)),
      Structures.subscribe(other, in: board),
    ]
    board.topic(of: Int.self).terminate(one)
    #expect(nodes.map(\.isOpen) == [true, true, false, true])
    board.terminate(one)
    #expect(nodes.map(\.isOpen) == [false, false, false, true])
  }

  @Test("a hub that is released leaves nothing in its topics, and who had subscribed has ended")
  func closed() {
    let board = Switchboard()
    let subscribers = (0..<40).map { _ in Nobody() }
    let obituaries = subscribers.enumerated().map { number, subscriber in
      let identity = number % 2 == 0 ? Identity("a") : nil
      let node = Structures.subscribe(subscriber, in: board, identity: identity)
      board.post(Structures.content(), to: Structures.key)
      return Obituary(of: node)
    }
    board.clear()
    #expect(obituaries.allSatisfy { $0.isDead })
    let index = board.index(of: Structures.key)
    #expect(index?.population == 0)
    #expect(index?.endings.counts.addressed == index?.addressed)
  }

  // MARK: Keeping memory bounded

  @Test("those that have ended are released with the next snapshot, or when they are many, or all")
  func heavy() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let present = Structures.subscribe(subscriber, in: board)
    func end() -> Obituary {
      let node = Structures.subscribe(Nobody(), in: board)
      node.terminate(as: .cancelled)
      return Obituary(of: node)
    }
    let first = end()
    #expect(!first.isDead)
    #expect(present.topic.snapshot().map(\.serial) == [present.serial])
    #expect(first.isDead)
    let many = (1..<TopicIndex.smallestSweep).map { _ in end() }
    #expect(!many.contains { $0.isDead })
    let last = end()
    #expect((many + [last]).allSatisfy { $0.isDead })
    present.terminate(as: .cancelled)
    #expect(end().isDead)
  }

  @Test("the 512th subscriber of a protocol has the dead searched for, once")
  func sweep() {
    let board = Switchboard()
    defer { board.clear() }
    let subscribers = (0..<1100).map { _ in Nobody() }
    var searched: [Int] = []
    for (index, subscriber) in subscribers.enumerated() {
      _ = Structures.subscribe(subscriber, in: board)
      if board.takeSweeps() > 0 { searched.append(index + 1) }
    }
    #expect(searched == [512])
    #expect(board.activity.workers.value == 1)
  }

  private func content(capturing object: Nobody) -> Notification.Content {
    Structures.content { withExtendedLifetime(object) {} }
  }
}

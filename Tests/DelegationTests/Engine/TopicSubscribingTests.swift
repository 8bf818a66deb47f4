import Testing

@testable import Delegation

@Suite("Topic: who subscribes when, or as, another one ends", .inTurn)
struct TopicSubscribingTests {
  @Test("one that is dying gets a subscription that has ended, to which nothing was addressed")
  func dying() {
    let board = Switchboard()
    defer { board.clear() }
    let (subscriber, dying) = (Nobody(), Nobody())
    _ = Structures.subscribe(subscriber, in: board)
    for _ in 0..<3 { board.post(Structures.content(), to: Structures.key) }
    let node = board.topic().subscribe(
      SubscriptionRequest(
        object: dying, type: Nobody.self, options: nil, priority: nil,
        site: Site(file: #fileID, line: #line)),
      // Not to the one that subscribes, as no weak reference is any more when it dies.
      reference: WeakReference(subscriber, object: subscriber))
    #expect(!node.isOpen)
    #expect(node.isIdle)
    #expect(node.account == Account())
    #expect(board.index(of: Structures.key)?.population == 1)
  }

  @Test("one whose place is taken has not died unheard, though it has dropped what was posted")
  func dropped() {
    let causes = Recorder<String>()
    let board = Switchboard { causes.record("\($0.kind) \($0.dropped)") }
    defer { board.clear() }
    let (former, latter) = (Nobody(), Nobody())
    let node = Structures.subscribe(
      former, in: board, identity: Identity("a"), policy: .dropOldest(limit: 1))
    for _ in 0..<2 { board.post(Structures.content(), to: Structures.key) }
    #expect(node.account == Account(dropped: 1, waiting: 1))
    _ = Structures.subscribe(latter, in: board, identity: Identity("a"))
    #expect(!node.isOpen)
    #expect(causes.history == ["dropped 1"])
  }

  @Test("from the moment at which one ends whose place is taken, the hub has something to do")
  func atWork() {
    let (former, latter) = (Nobody(), Nobody())
    let number = rounds(1_000)
    let worlds = number.map { _ -> (board: Switchboard, node: SubscriptionNode) in
      let board = Switchboard()
      let node = Structures.subscribe(former, in: board, identity: Identity("a"))
      board.post(Structures.content(), to: Structures.key)
      // The lane has begun, and has left what was posted to nobody.
      board.beginLane()
      return (board, node)
    }
    defer { for world in worlds { world.board.clear() } }
    let workers = Recorder<Int>()
    let meeting = Meeting(of: 2)
    Threads.run(2) { thread in
      for round in number {
        guard meeting.await(round) else { return }
        let (board, node) = worlds[round]
        if thread == 0 {
          _ = Structures.subscribe(latter, in: board, identity: Identity("a"))
        } else {
          var looks = 0
          while node.isOpen {
            looks += 1
            if looks > 1_000 { Threads.pause() }
          }
          workers.record(board.activity.workers.value)
        }
      }
    }
    #expect(!workers.history.isEmpty)
    #expect(!workers.history.contains(0))
  }

  @Test("of those that lived at one address, with ids of their own, no more than one is kept there")
  func oneAtAnAddress() {
    let board = Switchboard()
    defer { board.clear() }
    var most = 0
    for number in 0..<500 {
      let subscriber = Nobody()
      _ = Structures.subscribe(subscriber, in: board, identity: Identity(number))
      let address = ObjectIdentifier(subscriber)
      let present = board.index(of: Structures.key)?.all.count { $0.reference.identity == address }
      most = max(most, present ?? 0)
    }
    // All but the newcomer are dead. Where addresses are not used again it does not show.
    #expect(most == 1)
  }
}

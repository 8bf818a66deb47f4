import Synchronization
import Testing

@testable import Delegation

@Suite("Topic: what posters wait for", .inTurn)
struct TopicSectionTests {
  /// What is done to a subscription while somebody is busy with its mailbox.
  enum Deed: CaseIterable {
    case terminate, unsubscribe, unsubscribeByID, unsubscribeAll, setLimit, rename, takeOver,
      displace
  }

  @Test("nobody posts later for a mailbox that is being worked on", arguments: Deed.allCases)
  func busyMailbox(deed: Deed) {
    let board = Switchboard()
    defer { board.clear() }
    let (subscriber, other, bystander) = (Nobody(), Nobody(), Nobody())
    let node = Structures.subscribe(subscriber, in: board, identity: Identity("a"))
    if deed == .displace { _ = Structures.subscribe(other, in: board) }
    _ = Structures.subscribe(bystander, in: board)
    for _ in 0..<10 { board.post(Structures.content(), to: Structures.key) }
    let isHeld = Atomic<Bool>(false)
    let isDoing = Atomic<Bool>(false)
    let isPosted = Atomic<Bool>(false)
    let wasHeld = Atomic<Bool>(false)
    Threads.run(3) { thread in
      switch thread {
      case 0:
        node.contents.withLock { _ in
          isHeld.store(true, ordering: .sequentiallyConsistent)
          // Long enough for a poster that need not wait; one that has to is let go on in the end.
          let start = ContinuousClock.now
          while !isPosted.load(ordering: .sequentiallyConsistent),
            start.duration(to: .now) < .seconds(InTurn.patience)
          {
            Threads.pause()
          }
          wasHeld.store(
            isPosted.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
        }
      case 1:
        while !isHeld.load(ordering: .sequentiallyConsistent) { Threads.pause() }
        isDoing.store(true, ordering: .sequentiallyConsistent)
        Self.perform(deed, on: node, subscriber, other, in: board)
      default:
        while !isDoing.load(ordering: .sequentiallyConsistent) { Threads.pause() }
        for _ in 0..<200 {
          Threads.pause()
          board.post(Structures.content(), to: Structures.key)
        }
        isPosted.store(true, ordering: .sequentiallyConsistent)
      }
    }
    #expect(wasHeld.load(ordering: .sequentiallyConsistent) == true)
    withExtendedLifetime((subscriber, other, bystander)) {}
  }

  private static func perform(
    _ deed: Deed, on node: SubscriptionNode, _ subscriber: Nobody, _ other: Nobody,
    in board: Switchboard
  ) {
    switch deed {
    case .terminate: node.terminate(as: .cancelled)
    case .unsubscribe: board.terminate(subscriber)
    case .unsubscribeByID: board.terminate(identifiedBy: Identity("a"))
    case .unsubscribeAll: board.terminateAll()
    case .setLimit: _ = Structures.subscribe(subscriber, in: board, policy: .latest)
    case .rename: _ = Structures.subscribe(subscriber, in: board, identity: Identity("b"))
    case .takeOver, .displace:
      _ = Structures.subscribe(other, in: board, identity: Identity("a"))
    }
  }

  @Test(
    "what waits is stored under a new limit in pieces, between which others come to the mailbox")
  func pieces() {
    var mailbox = Mailbox(at: Structures.chain(of: 100), number: 0)
    mailbox.setPolicy(.latest)
    let isDone = (0..<4).map { _ in mailbox.store(upTo: 100, atMost: 30) }
    #expect(isDone == [false, false, false, true])
    #expect(mailbox.account(published: 100) == Account(dropped: 99, waiting: 1))
  }

  @Test("options that come after the end are given back")
  func optionsAfterTheEnd() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let lifetimes = Lifetimes()
    let node = Structures.subscribe(subscriber, in: board)
    node.terminate(as: .cancelled)
    if let newer = SubscriptionOptions(of: lifetimes.make(), hold: .strongly) {
      node.setOptions(SubscriptionOptions(newer, over: nil))
    }
    #expect(lifetimes.alive == 0)
  }

  @Test("while many protocols lose and gain subscribers, those that have one are heard")
  func interest() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let types = Types.many(200)
    let topics = types.map { board.topic(of: $0) }
    var open: [Int: SubscriptionNode] = [:]
    var dice = Dice(seed: 1)
    for _ in 0..<2000 {
      let index = dice.roll(topics.count)
      if let node = open.removeValue(forKey: index) {
        node.terminate(as: .cancelled)
      } else {
        open[index] = Structures.subscribe(subscriber, to: types[index], in: board)
      }
      let heard = topics.indices.filter { topics[$0].isHeard.load(ordering: .relaxed) }
      #expect(heard == open.keys.sorted())
    }
  }

  @Test("all of many are ended in sections in which few are ended, and none is left in memory")
  func terminatingMany() {
    let board = Switchboard()
    defer { board.clear() }
    let subscribers = (0..<700).map { _ in Nobody() }
    let obituaries = subscribers.map { Obituary(of: Structures.subscribe($0, in: board)) }
    board.topic().terminateAll()
    let index = board.index(of: Structures.key)
    #expect(index?.endings.nodes.isEmpty == true)
    #expect(obituaries.allSatisfy { $0.isDead })
  }

  @Test("a take-over when nothing waits requests no worker, and leaves one subscription in order")
  func quietTakeOver() {
    let board = Switchboard()
    defer { board.clear() }
    let subscribers = (0..<100).map { _ in Nobody() }
    for subscriber in subscribers {
      let node = Structures.subscribe(subscriber, in: board, identity: Identity("a"))
      #expect(node.serial == 1)
      #expect(!node.contents.withLock { $0.mailbox.flags.contains(.awaitingHandOver) })
    }
    #expect(board.takeRequested().isEmpty)
    #expect(board.activity.workers.value == 0)
    #expect(board.topic().snapshot().map(\.serial) == [1])
  }
}

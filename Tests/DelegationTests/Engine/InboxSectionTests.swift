import Synchronization
import Testing

@testable import Delegation

@Suite("Inbox: what posters wait for", .inTurn)
struct InboxSectionTests {
  /// What is done to a subscription while somebody is busy with its mailbox.
  enum Deed: CaseIterable {
    case terminate, unsubscribe, unsubscribeByID, unsubscribeAll, setLimit, rename, takeOver,
      displace
  }

  @Test("nobody posts later for a mailbox that is being worked on", arguments: Deed.allCases)
  func busyMailbox(deed: Deed) {
    let inbox = Inbox()
    defer { inbox.clear() }
    let (subscriber, other, bystander) = (Nobody(), Nobody(), Nobody())
    let node = Structures.subscribe(subscriber, in: inbox, identity: Identity("a"))
    if deed == .displace { _ = Structures.subscribe(other, in: inbox) }
    _ = Structures.subscribe(bystander, to: Int.self, in: inbox)
    for _ in 0..<10 { inbox.post(Structures.content(), to: Structures.key) }
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
        Self.perform(deed, on: node, subscriber, other, in: inbox)
      default:
        while !isDoing.load(ordering: .sequentiallyConsistent) { Threads.pause() }
        for _ in 0..<200 {
          Threads.pause()
          inbox.post(Structures.content(), to: ObjectIdentifier(Int.self))
        }
        isPosted.store(true, ordering: .sequentiallyConsistent)
      }
    }
    #expect(wasHeld.load(ordering: .sequentiallyConsistent) == true)
    withExtendedLifetime((subscriber, other, bystander)) {}
  }

  private static func perform(
    _ deed: Deed, on node: SubscriptionNode, _ subscriber: Nobody, _ other: Nobody,
    in inbox: Inbox
  ) {
    switch deed {
    case .terminate: node.terminate(as: .cancelled)
    case .unsubscribe: inbox.terminate(subscriber)
    case .unsubscribeByID: inbox.terminate(identifiedBy: Identity("a"))
    case .unsubscribeAll: inbox.terminateAll()
    case .setLimit: _ = Structures.subscribe(subscriber, in: inbox, policy: .latest)
    case .rename: _ = Structures.subscribe(subscriber, in: inbox, identity: Identity("b"))
    case .takeOver, .displace:
      _ = Structures.subscribe(other, in: inbox, identity: Identity("a"))
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
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let lifetimes = Lifetimes()
    let node = Structures.subscribe(subscriber, in: inbox)
    node.terminate(as: .cancelled)
    if let newer = SubscriptionOptions(of: lifetimes.make(), hold: .strongly) {
      node.setOptions(SubscriptionOptions(newer, over: nil))
    }
    #expect(lifetimes.alive == 0)
  }

  @Test("while many protocols lose and gain subscribers, those that have one may be reached")
  func interest() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    // More than there are marks.
    let types: [Any.Type] = Self.types(200)
    var open: [Int: SubscriptionNode] = [:]
    var dice = Dice(seed: 1)
    for _ in 0..<2000 {
      let index = dice.roll(types.count)
      if let node = open.removeValue(forKey: index) {
        node.terminate(as: .cancelled)
      } else {
        open[index] = Structures.subscribe(subscriber, to: types[index], in: inbox)
      }
      #expect(open.keys.allSatisfy { inbox.mayReach(ObjectIdentifier(types[$0])) })
    }
    for node in open.values { node.terminate(as: .cancelled) }
    #expect(!types.contains { inbox.mayReach(ObjectIdentifier($0)) })
  }

  @Test("what has changed in more protocols than are taken at once is all taken, in order")
  func manyProtocols() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscriber = Nobody()
    let types = Self.types(40)
    for type in types { _ = Structures.subscribe(subscriber, to: type, in: inbox) }
    let changes = inbox.takeUpdates(asWake: false).changes
    #expect(changes.map(\.topic.key) == types.map { ObjectIdentifier($0) })
    #expect(changes.allSatisfy { $0.added.count == 1 })
  }

  @Test("the end of a protocol's last subscription takes as long beside thousands of protocols")
  func lastOfAProtocol() {
    let times = [64, 4096].map { count in
      let inbox = Inbox()
      defer { inbox.clear() }
      let subscriber = Nobody()
      let nodes = Self.pairs(count).map { Structures.subscribe(subscriber, to: $0, in: inbox) }
      _ = inbox.takeUpdates(asWake: false)
      // The shortest: a thread that is interrupted takes longer.
      return nodes.prefix(60).map { node in
        ContinuousClock().measure { node.terminate(as: .cancelled) }
      }.min() ?? .zero
    }
    // One that looks at all of them takes far longer.
    #expect(times[1] < times[0] * 8, "\(times)")
  }

  @Test("to unsubscribe all of many asks for a wake, so that they are released")
  func heavyEnd() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let wakes = Wakes(of: inbox)
    let subscribers = (0..<511).map { _ in Nobody() }
    for subscriber in subscribers { _ = Structures.subscribe(subscriber, in: inbox) }
    _ = inbox.takeUpdates(asWake: false)
    #expect(wakes.count == 0)
    inbox.terminateAll(of: Structures.key)
    #expect(wakes.count == 0)
    for subscriber in subscribers { _ = Structures.subscribe(subscriber, in: inbox) }
    #expect(wakes.count == 1)
    _ = inbox.takeUpdates(asWake: true)
    _ = Structures.subscribe(Nobody(), in: inbox)
    inbox.terminateAll(of: Structures.key)
    #expect(wakes.count == 2)
    #expect(inbox.takeUpdates(asWake: true).changes.map(\.terminated) == [512])
    // So do fewer, if there are other changes.
    for subscriber in subscribers.prefix(300) { _ = Structures.subscribe(subscriber, in: inbox) }
    #expect(wakes.count == 2)
    inbox.terminateAll(of: Structures.key)
    #expect(wakes.count == 3)
  }

  @Test("the last wake for the end of many comes when their accounts are final, so none is kept")
  func finalEnd() {
    final class Keeper: @unchecked Sendable {
      var roster: Roster?
    }
    let inbox = Inbox()
    defer { inbox.clear() }
    let keeper = Keeper()
    // The topic refers to the inbox, whose waker refers to the keeper.
    defer { keeper.roster = nil }
    // As the actor does it, and before the thread that sends the wake goes on.
    inbox.setWaker { [weak inbox] in
      guard let inbox, inbox.wake.claim() else { return }
      for changes in inbox.takeUpdates(asWake: true).changes {
        keeper.roster = keeper.roster ?? Roster(topic: changes.topic)
        keeper.roster?.apply(changes)
      }
    }
    let subscribers = (0..<512).map { _ in Nobody() }
    for subscriber in subscribers { _ = Structures.subscribe(subscriber, in: inbox) }
    #expect(keeper.roster?.overview().nodes.count == 512)
    inbox.terminateAll(of: Structures.key)
    #expect(keeper.roster?.overview().nodes.count == 0)
  }

  @Test("a take-over when nothing waits wakes nobody")
  func quietTakeOver() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let wakes = Wakes(of: inbox)
    let subscribers = (0..<100).map { _ in Nobody() }
    for subscriber in subscribers {
      let node = Structures.subscribe(subscriber, in: inbox, identity: Identity("a"))
      #expect(node.serial == 1)
      #expect(!node.contents.withLock { $0.mailbox.flags.contains(.awaitingHandOver) })
    }
    #expect(wakes.count == 0)
    #expect(inbox.index(of: Structures.key)?.population == 1)
  }

  private static func types(_ count: Int) -> [Any.Type] {
    var types: [Any.Type] = [Nobody.self]
    func add<T>(_ type: T.Type) { types.append([T].self) }
    while types.count < count {
      func open<T>(_ type: T.Type) -> Any.Type { T?.self }
      types.append(_openExistential(types[types.count - 1], do: open))
    }
    return types
  }

  /// That many types, of which none is made of more than a few others.
  private static func pairs(_ count: Int) -> [Any.Type] {
    let types = types(64)
    func pair<One>(_ one: One.Type) -> [Any.Type] {
      func pair<Other>(_ other: Other.Type) -> Any.Type { Pair<One, Other>.self }
      return types.map { _openExistential($0, do: pair) }
    }
    return Array(types.flatMap { _openExistential($0, do: pair) }.prefix(count))
  }
}

/// A type for each two types.
private enum Pair<One, Other> {}

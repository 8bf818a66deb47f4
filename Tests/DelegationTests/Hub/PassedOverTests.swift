import Testing

@testable import Delegation

private protocol Progressing: AnyObject, Sendable {
  var log: Recorder<Int> { get }
}

private final class Bar: Listener, Progressing {
  let name: String
  let log = Recorder<Int>()
  init(_ name: String = "bar") { self.name = name }
}

@Suite("Guarantee 16: optional notifications are passed over by those that do not conform", .inTurn)
struct PassedOverTests {
  typealias Policy = DelegateHub.MailboxPolicy

  private let delegates = Delegates<any Listener>()
  private var hub: DelegateHub { delegates.hub }
  private var progress: Delegates<any Progressing> { delegates.conforming(to: Progressing.self) }

  /// Posts something that those of a name hang at, and waits for it.
  private func hold(_ name: String, at gate: Gate) async {
    delegates.notify { if $0.name == name { await gate.pass() } }
    await gate.arrivals()
  }

  @Test(
    "they take no place in the mailbox, and push nothing out of it (U4)",
    arguments: [Policy.dropOldest(limit: 2), .dropNewest(limit: 2), .latest])
  func limit(policy: Policy) async {
    let (gate, plain) = (Gate(), Probe("plain"))
    let subscription = delegates.registry.subscribe(plain, mailbox: policy)
    await hold("plain", at: gate)
    for round in 0..<50 { progress.notify { $0.log.record(round) } }
    delegates.notify { $0.log.record(100) }
    for round in 0..<50 { progress.notify { $0.log.record(round) } }
    #expect(
      subscription.statistics.counts == .init(passedOver: 100, waiting: 1, handling: 1))
    let left = await hub.drain(within: .zero).subscribers
    #expect(left.map(\.waiting) == [1])
    gate.open()
    #expect(await hub.drain().isEmpty)
    #expect(plain.log.history == [100])
    #expect(await hub.accounts() == .init(handled: 2, passedOver: 100))
  }

  @Test("one that conforms is limited as ever")
  func conforming() async {
    let (gate, bar, plain) = (Gate(), Bar(), Probe("plain"))
    delegates.registry.subscribe(bar, mailbox: .dropOldest(limit: 2))
    delegates.registry.subscribe(plain, mailbox: .dropOldest(limit: 2))
    await hold("bar", at: gate)
    delegates.notify { $0.log.record(100) }
    for round in 0..<10 { progress.notify { $0.log.record(round) } }
    gate.open()
    await hub.drain()
    #expect(bar.log.history == [8, 9])
    #expect(plain.log.history == [100])
    #expect(await hub.accounts() == .init(handled: 5, dropped: 9, passedOver: 10))
  }

  @Test("without a limit they are passed over in their turn, and end with the subscription")
  func unlimited() async {
    let (gate, plain) = (Gate(), Probe("plain"))
    let subscription = delegates.registry.subscribe(plain)
    await hold("plain", at: gate)
    for round in 0..<10 { progress.notify { $0.log.record(round) } }
    #expect(subscription.statistics.counts == .init(waiting: 10, handling: 1))
    subscription.cancel()
    gate.open()
    await hub.drain()
    delegates.registry.subscribe(plain)
    for round in 0..<10 { progress.notify { $0.log.record(round) } }
    await hub.drain()
    #expect(await hub.accounts() == .init(handled: 1, cancelled: 10, passedOver: 10))
  }

  @Test("who waits for one does not wait for those with a limit that pass it over")
  func receipt() async {
    let (gate, plain, bar) = (Gate(), Probe("plain"), Bar())
    delegates.registry.subscribe(plain, mailbox: .latest)
    delegates.registry.subscribe(bar)
    await hold("plain", at: gate)
    #expect(await progress.notifyAndWait { $0.log.record(1) }.isEmpty)
    #expect(bar.log.history == [1])
    gate.open()
    await hub.drain()
    withExtendedLifetime(plain) {}
  }

  @Test(
    "a successor passes over what its predecessor would have handled, and the other way round",
    arguments: [true, false], [Policy.unbounded, .dropOldest(limit: 2)])
  func takeOver(isOfFirst: Bool, policy: Policy) async {
    let (gate, bar, plain) = (Gate(), Bar("first"), Probe("first"))
    let (first, second): (any Listener, any Listener) = isOfFirst ? (bar, plain) : (plain, bar)
    let subscription = delegates.registry.subscribe(first, id: 1, mailbox: policy)
    await hold("first", at: gate)
    delegates.notify { $0.log.record(100) }
    progress.notify { $0.log.record(1) }
    if policy == .unbounded {
      for round in 2...5 { progress.notify { $0.log.record(round) } }
    }
    // Who looks finds that a mailbox with a limit has passed over what it has to.
    #expect(subscription.statistics.counts.addressed == (policy == .unbounded ? 7 : 3))
    delegates.registry.subscribe(second, id: 1, mailbox: .dropOldest(limit: 2))
    progress.notify { $0.log.record(6) }
    gate.open()
    await hub.drain()
    let counts = await hub.accounts()
    if isOfFirst {
      #expect(second.log.history == [100])
      #expect(counts.passedOver == (policy == .unbounded ? 6 : 2))
      #expect(counts.dropped == 0)
    } else {
      // What the predecessor had passed over is gone.
      // It may have begun with what it got before the last one was posted.
      let histories = policy == .unbounded ? [[5, 6], [4, 5, 6]] : [[100, 6]]
      #expect(histories.contains(second.log.history))
      #expect(counts.passedOver == (policy == .unbounded ? 0 : 1))
    }
    withExtendedLifetime((first, second)) {}
  }

  @Test("a subscriber that dies with some waiting has expired, whatever it conformed to")
  func dead() async {
    let gate = Gate()
    var mortal: Probe? = Probe("mortal")
    if let mortal { delegates.registry.subscribe(mortal, mailbox: .latest) }
    delegates.notify { [name = "mortal"] in if $0.name == name { await gate.pass() } }
    await gate.arrivals()
    mortal = nil
    progress.notify { $0.log.record(1) }
    gate.open()
    await hub.drain()
    let counts = await hub.accounts()
    #expect(counts.handled == 1)
    #expect(counts.passedOver + counts.expired == 1)
  }

  @Test("so it has if somebody looks who finds it dead, before any worker comes")
  func foundDead() {
    let stage = Stage { $0.onIncident = { _ in } }
    let listeners = stage.hub[Listener.self]
    var mortal: Probe? = Probe()
    let subscription = mortal.map { listeners.registry.subscribe($0, mailbox: .latest) }
    mortal = nil
    listeners.conforming(to: Progressing.self).notify { $0.log.record(1) }
    #expect(subscription?.statistics.counts == .init(expired: 1))
    stage.run()
  }

  @Test("none is lost while objects take over from each other", arguments: seeds(4))
  func storm(seed: UInt64) async {
    let real = rounds(2_000, atLeast: 200).count
    let members: [any Listener] = (0..<real / 8).map { index -> any Listener in
      if index % 2 == 0 { Bar() } else { Probe() }
    }
    let policies: [Policy] = [.dropOldest(limit: 4 * real), .dropNewest(limit: 4 * real)]
    delegates.registry.subscribe(members[0], id: "seat", mailbox: policies[0])
    let (told, hub) = (Count(), hub)
    await withTaskGroup { group in
      group.addTask { [delegates, progress] in
        var dice = Dice(seed: seed)
        for _ in 0..<real {
          delegates.notify { _ in told.add(1) }
          for _ in 0..<dice.roll(3) { progress.notify { _ in await Task.yield() } }
          if dice.roll(8) == 0 { await Task.yield() }
        }
      }
      group.addTask { [delegates] in
        for (index, member) in members.enumerated().dropFirst() {
          delegates.registry.subscribe(member, id: "seat", mailbox: policies[index % 2])
          await Task.yield()
        }
      }
      group.addTask {
        for _ in 0..<100 {
          _ = await hub.accounts()
          await Task.yield()
        }
      }
    }
    await hub.drain()
    let counts = await hub.accounts()
    #expect(told.value == real)
    #expect(counts.dropped == 0 && counts.cancelled == 0 && counts.expired == 0, "\(counts)")
    withExtendedLifetime(members) {}
  }
}

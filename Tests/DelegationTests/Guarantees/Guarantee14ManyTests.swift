import Testing

@testable import Delegation

@Suite("Guarantee 14: drain, and several handlers that wait at the same time", .inTurn)
struct Guarantee14ManyTests {
  private static let many = 10

  /// Has a handler on each of many subscribers wait at the same time, and expects all to go on.
  private func allGoOn(
    _ wait: @escaping @Sendable (DelegateHub) async -> Void,
    in reach: Reach = .notifyAsynchronously
  ) async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(Self.many)
    let done = Recorder<Void>()
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let handle: @Sendable (any Listener) async -> Void = { _ in
      await gate.pass()
      await wait(hub)
      done.record(())
    }
    let call = Task {
      if reach == .ask {
        _ = await hub[Listener.self].ask(combining: .all(), handle)
      } else {
        hub[Listener.self].notify(handle)
      }
    }
    await gate.arrivals(Self.many)
    gate.open()
    await call.value
    #expect(await hub.drain().isEmpty)
    #expect(done.history.count == Self.many)
    #expect(hub.activity.workers.value == 0)
    withExtendedLifetime(probes) {}
  }

  @Test("ten handlers of one notification that drain their hub all go on")
  func drains() async {
    await allGoOn { await $0.drain() }
  }

  @Test("so do ten voters")
  func votersDrain() async {
    await allGoOn({ await $0.drain() }, in: .ask)
  }

  @Test("ten handlers that each notify all of them and wait all go on")
  func notifyAndWait() async {
    await allGoOn { await $0[Listener.self].notifyAndWait() { _ in } }
  }

  @Test("ten handlers, each of which waits for the next one's end, all go on")
  func ring() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(Self.many)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    hub[Listener.self].notify() { probe in
      await gate.pass()
      let next = (Int(probe.name) ?? 0) + 1
      await subscriptions[next % Self.many].cancelAndWait()
      probe.log.record(1)
    }
    await gate.arrivals(Self.many)
    gate.open()
    #expect(await hub.drain().isEmpty)
    #expect(probes.allSatisfy { $0.log.history == [1] })
  }

  @Test("ten hubs, a handler of each of which drains the next one, all come to rest")
  func hubs() async {
    let gate = Gate()
    let hubs = (0..<Self.many).map { _ in DelegateHub() }
    let probes = Probe.many(Self.many)
    for (number, hub) in hubs.enumerated() {
      hub.subscribe(probes[number], to: Listener.self)
      hub[Listener.self].notify() { probe in
        await gate.pass()
        await hubs[(number + 1) % Self.many].drain()
        probe.log.record(1)
      }
    }
    await gate.arrivals(Self.many)
    gate.open()
    for hub in hubs { #expect(await hub.drain().isEmpty) }
    #expect(probes.allSatisfy { $0.log.history == [1] })
  }

  @Test("ten thousand tasks that wait for one hub all go on when it comes to rest")
  func outside() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    await withTaskGroup { group in
      for number in 0..<10_000 {
        group.addTask {
          switch number % 3 {
          case 0: await hub.drain()
          case 1: await hub[Listener.self].notifyAndWait() { _ in }
          default: await subscription.cancelAndWait()
          }
        }
      }
      group.addTask {
        while !hub.activity.workers.isAwaited { await Task.yield() }
        gate.open()
      }
    }
    #expect(await hub.drain().isEmpty)
    #expect(hub.activity.workers.isAwaited == false)
  }
}

@Suite("Guarantee 14: drain, from a voter")
struct Guarantee14VoterTests {
  /// The ways to ask side by side.
  private static let ways: [Reach] = [.vote, .voteWithin, .collect, .collectWithin]

  @Test(
    "it waits for those who are asked beside it, with a deadline and without",
    .inTurn, arguments: ways, [2, 3, 5])
  func others(way: Reach, count: Int) async {
    for _ in rounds(20) {
      let hub = DelegateHub()
      let events = Recorder<String>()
      let probes = Probe.many(count)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      await way.call(hub) { probe in
        if probe.name == "0" {
          // At once: those behind it need not have begun.
          await hub.drain()
          events.record("drained")
        } else {
          await Task.yield()
          events.record("answered")
        }
      }
      #expect(events.history == Array(repeating: "answered", count: count - 1) + ["drained"])
      withExtendedLifetime(probes) {}
    }
  }
}

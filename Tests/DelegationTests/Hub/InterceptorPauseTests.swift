import Testing

@testable import Delegation

@Suite("Interceptors that take their time, or do not call next", .inTurn)
struct InterceptorPauseTests {
  @Test("a gate that they keep from answering counts as `absent:` says, and is not asked")
  func keptFromAnswering() async {
    let hub = DelegateHub(.init(interceptors: [Hook { _, _ in .notCalled }]))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let votes = await [
      hub[Listener.self].vote(absent: .counts(as: false)) { _ in true },
      hub[Listener.self].vote(within: .seconds(600), absent: .counts(as: false)) { _ in true },
      hub[Listener.self].vote(absent: .abstains) { _ in false },
      hub[Listener.self].vote() { _ in false },
    ]
    #expect(votes == [false, false, true, true])
    let answer = await hub[Listener.self].askInTurn(absent: .counts(as: 7)) { _ in 1 }
    #expect(answer == 7)
    #expect(await hub[Listener.self].collect() { _ in 1 }.isEmpty)
    #expect(await hub.statistics().questions.asked == 0)
    withExtendedLifetime(probe) {}
  }

  @Test(
    "a take-over before they call next loses nothing, dead or alive", arguments: [false, true],
    [false, true])
  func takeOver(isOnMainActor: Bool, isDead: Bool) async {
    let gate = Gate()
    let handled = Recorder<String>()
    let hub = DelegateHub {
      $0.interceptors = [
        Hook { call, next in
          await gate.pass()
          return await next()
        }
      ]
    }
    var old: Probe? = Probe("old")
    let new = Probe("new")
    if let old { hub.subscribe(old, to: Listener.self, id: 0) }
    for number in 0..<3 {
      if isOnMainActor {
        hub[Listener.self].notify() { @MainActor in handled.record("\($0.name) \(number)") }
      } else {
        hub[Listener.self].notify() { handled.record("\($0.name) \(number)") }
      }
    }
    await gate.arrivals()
    if isDead { old = nil }
    hub.subscribe(new, to: Listener.self, id: 0)
    gate.open()
    await hub.drain()
    #expect(handled.history == ["new 0", "new 1", "new 2"])
    withExtendedLifetime((old, new)) {}
  }

  @Test(
    "one that has ended meanwhile is not called, nor counted, if another hub waits for them",
    arguments: [false, true])
  func endedMeanwhile(isAwaited: Bool) async {
    let other = DelegateHub()
    let hub = DelegateHub(
      .init(interceptors: [
        Hook { call, next in
          call.subscription.cancel()
          return isAwaited ? await other.delayingDrain { await next() } : await next()
        }
      ]))
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { $0.log.record(0) }
    await hub.drain()
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    #expect(
      await hub[Listener.self].vote(absent: .counts(as: false)) { probe in
        probe.log.record(1)
        return false
      })
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let answer = await hub[Listener.self].askInTurn() { probe -> Int? in
      probe.log.record(2)
      return 2
    }
    #expect(answer == nil)
    #expect(probes.flatMap(\.log.history).isEmpty)
    #expect(await hub.statistics().questions.asked == 0)
  }

  @Test("nor is one that has ended before the main actor is free, if other hubs wait for them")
  func endedBeforeTheMainActor() async {
    let other = DelegateHub()
    let hub = DelegateHub(
      .init(interceptors: [
        Hook { call, next in
          call.subscription.cancel()
          return await other.delayingDrain { await next() }
        }
      ]))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { @MainActor in $0.log.record(0) }
    await hub.drain()
    #expect(probe.log.history.isEmpty)
    #expect(await hub.statistics().counts.cancelled == 1)
  }

  @Test("what next says of one has nothing to do with what the one before has thrown")
  func formerError() async {
    let outcomes = Recorder<DelegateHub.HandlerOutcome>()
    let held = Lock<Probe?>(Probe("mortal"))
    let hub = DelegateHub {
      $0.onIncident = { _ in }
      $0.interceptors = [
        Hook { call, next in
          if call.id as? String == "mortal" { _ = held.withLock { $0.take() } }
          let outcome = await next()
          outcomes.record(outcome)
          return outcome
        }
      ]
    }
    let probe = Probe("throws")
    hub.subscribe(probe, to: Listener.self)
    if let mortal = held.withLock({ $0 }) { hub.subscribe(mortal, to: Listener.self, id: "mortal") }
    #expect(await hub[Listener.self].vote(absent: .abstains) { _ in throw Refusal() })
    #expect(outcomes.history == [.threw(Refusal()), .notCalled])
    withExtendedLifetime(probe) {}
  }

  @Test("they may drain the hub, whatever the question awaits, and other hubs may wait for them")
  func drains() async {
    let (drained, other) = (Recorder<DelegateHub>(), DelegateHub())
    let failed = Recorder<DelegateHub.Incident.Kind>()
    let door = DelegateHub {
      $0.onIncident = { failed.record($0.kind) }
      $0.interceptors = [
        Hook { _, next in
          await drained.history.first?.drain()
          return await other.delayingDrain { await next() }
        }
      ]
    }
    drained.record(door)
    let probes = Probe.many(2)
    for probe in probes { door.subscribe(probe, to: Listener.self) }
    #expect(await door[Listener.self].vote() { _ in true })
    #expect(await door[Listener.self].ask(combining: .all()) { $0.name }.count == 2)
    #expect(
      await !door[Listener.self].vote(absent: .counts(as: false)) { _ in throw Refusal() })
    await door.drain()
    #expect(failed.history.first == .failed)
    #expect(await door.statistics().questions.failed >= 1)
    withExtendedLifetime(probes) {}
  }

  @Test(
    "they run only around handlers that there are: who is late is none who does not conform, or is dead"
  )
  func notReached() {
    let intercepted = Count()
    let stage = Stage {
      $0.onIncident = { _ in }
      $0.interceptors = [
        Hook { _, next in
          intercepted.add(1)
          return await next()
        }
      ]
    }
    let lonely = Lonely()
    stage.hub.subscribe(lonely, to: Bystander.self)
    do {
      let dead = Probe()
      stage.hub.subscribe(dead, to: Bystander.self)
    }
    let vote = stage.start { hub in
      await hub[Bystander.self].conforming(to: Listener.self).vote(
        within: .seconds(1), absent: .counts(as: false)
      ) { _ in true }
    }
    #expect(vote.result == true)
    #expect(intercepted.value == 0)
    withExtendedLifetime(lonely) {}
  }
}

/// Conforms to nothing else.
private final class Lonely: Bystander {
  let name = "lonely"
  let log = Recorder<Int>()
}

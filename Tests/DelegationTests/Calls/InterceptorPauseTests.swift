import Delegation
import Testing

@Suite("Interceptors that take their time", .inTurn)
struct InterceptorPauseTests {
  /// A stage whose interceptor does something around the handlers of the subscriber "0".
  private func stage(
    told: Recorder<String> = Recorder(),
    _ body:
      nonisolated(nonsending) @escaping @Sendable (Hook.Next) async -> DelegateHub.HandlerOutcome
  ) -> (stage: Stage, probes: [Probe]) {
    let stage = Stage { configuration in
      configuration.onIncident = { told.record("\($0.kind) \($0.subscriber)") }
      configuration.interceptors = [
        Hook { call, next in
          call.id as? Int == 0 ? await body(next) : await next()
        }
      ]
    }
    let probes = Probe.many(3)
    for (id, probe) in probes.enumerated() {
      stage.hub.subscribe(probe, to: Listener.self, id: id, hold: .strongly)
    }
    return (stage, probes)
  }

  @Test("one that hangs holds up its own call only", arguments: [false, true])
  func hanging(isAfter: Bool) {
    let (told, gate) = (Recorder<String>(), Gate())
    let (stage, probes) = stage(told: told) { next in
      if isAfter { _ = await next() }
      await gate.pass()
      return await next()
    }
    stage.hub[Listener.self].notify { $0.log.record(1) }
    stage.run()
    #expect(probes.map(\.log.history) == [isAfter ? [1] : [], [1], [1]])
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in true }
    }
    let veto = stage.start { hub in await hub[Listener.self].vote { $0.name != "1" } }
    #expect(veto.result == false)
    stage.advance(by: .seconds(1))
    #expect(vote.result == false && told.history == ["late DelegationTests.Probe (0)"])
    #expect(stage.perform { await $0.drain(within: .zero).isEmpty } == false)
    stage.open(gate)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(probes[0].log.history == [1])
  }

  @Test("a decision, a deadline and the caller's cancellation cancel it", arguments: 0..<3)
  func cancelling(way: Int) {
    let (events, gate) = (Recorder<String>(), Gate())
    let (stage, _) = stage { next in
      await withTaskCancellationHandler {
        await gate.pass()
        events.record("cancelled: \(Task.isCancelled)")
        return await next()
      } onCancel: {
        events.record("cancelled")
        gate.open()
      }
    }
    let vote = stage.start { hub in
      way == 1
        ? await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in true }
        : await hub[Listener.self].vote { way == 2 || $0.name == "0" }
    }
    switch way {
    case 1: stage.advance(by: .seconds(1))
    case 2:
      vote.cancel()
      stage.run()
    default: break
    }
    #expect(vote.result == (way != 0) && events.history == ["cancelled", "cancelled: true"])
  }

  @Test("what it binds is seen by the handler and its tasks, and by no later one and no combiner")
  func taskLocals() async {
    let seen = Recorder<String>()
    let hub = DelegateHub(
      .init(interceptors: [
        Hook { call, next in
          guard call.id as? Int == 0 else { return await next() }
          return await Label.$current.withValue("bound") { await next() }
        }
      ]))
    let probes = Probe.many(3)
    for (id, probe) in probes.enumerated() { hub.subscribe(probe, to: Listener.self, id: id) }
    let names = await hub[Listener.self].ask(
      combining: .reduce([]) { @Sendable (names: [String], name: String) in
        names + ["\(name) \(Label.current)"]
      }
    ) { probe in
      await Task { seen.record("\(probe.name) \(Label.current)") }.value
      return probe.name
    }
    #expect(names == ["0 nothing", "1 nothing", "2 nothing"])
    #expect(seen.clear().sorted() == ["0 bound", "1 nothing", "2 nothing"])
    await hub[Listener.self].notifyAndWait { seen.record("\($0.name) \(Label.current)") }
    #expect(seen.history.sorted() == ["0 bound", "1 nothing", "2 nothing"])
    withExtendedLifetime(probes) {}
  }

  @Test(
    "waits in it are waits in the handler: not for themselves",
    arguments: [Reach.notify, .notifyAndWait, .vote, .voteWithin, .collect, .askInTurn])
  func waiting(reach: Reach) async {
    let (held, waits) = (Recorder<DelegateHub>(), Recorder<Bool>())
    let hub = DelegateHub(
      .init(interceptors: [
        Hook { call, next in
          guard call.id as? Int == 0, let hub = held.history.first else { return await next() }
          waits.record(await hub.drain().isEmpty)
          await hub[Bystander.self].notifyAndWait { $0.log.record(1) }
          let outcome = await next()
          await call.subscription.cancelAndWait()
          return outcome
        }
      ]))
    held.record(hub)
    let (probe, bystander) = (Probe(), Probe())
    hub.subscribe(probe, to: Listener.self, id: 0)
    hub.subscribe(bystander, to: Bystander.self)
    await reach(hub, suspending: false) { $0.log.record(2) }
    #expect(waits.history.count == 1 && bystander.log.history == [1] && probe.log.history == [2])
    held.clear()
  }

  @Test("who is dead or does not conform has none")
  func notReached() async {
    let intercepted = Recorder<DelegateHub.HandlerOutcome>()
    let hook = Hook { _, next in
      let outcome = await next()
      intercepted.record(outcome)
      return outcome
    }
    let (hub, probe) = (DelegateHub(.init(onIncident: { _ in }, interceptors: [hook])), Probe())
    hub.subscribe(probe, to: Bystander.self)
    hub.subscribe(Probe("dead"), to: Bystander.self)
    #expect(
      await hub[Bystander.self].conforming(to: (any Bystander & Error).self).vote(
        within: .seconds(60), absent: .counts(as: false)
      ) { _ in true })
    #expect(intercepted.history == [])
    withExtendedLifetime(probe) {}
  }
}

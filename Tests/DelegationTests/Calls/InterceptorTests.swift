import Delegation
import Testing

/// A method that is not `nonisolated(nonsending)` itself.
private struct Plain: DelegateHub.Interceptor {
  let events: Recorder<String>

  func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    await Task.yield()
    events.record("plain \(call.call)")
    return await next()
  }
}

@Suite("Interceptors", .inTurn)
struct InterceptorTests {
  @Test(
    "the first one is outermost, what they bind reaches the handler, and they are told of the call, in every form",
    arguments: CallForm.allCases, Setting.allCases)
  func order(form: CallForm, setting: Setting) async throws {
    let events = Recorder<String>()
    let calls = Recorder<DelegateHub.HandlerCall>()
    let telling = Hook { call, next in
      calls.record(call)
      return await next()
    }
    let probe = Probe("audit")
    let (hub, delegates) = setting.cast(
      [probe], within: [Hook.noting("outer", in: events), Hook.noting("inner", in: events), telling])
    let result = await form(delegates) { probe in
      events.record("\(probe.name) in \(Label.current)")
      if form.isOnMainActor { MainActor.preconditionIsolated() }
    }
    #expect(
      events.history == [
        "outer begins in nothing", "inner begins in outer", "audit in inner",
        "inner ends in outer: returned", "outer ends in nothing: returned",
      ])
    #expect(result == form.result(among: 1))
    let call = try #require(calls.history.first)
    #expect(calls.history.count == 1)
    #expect("\(call.call)" == form.call)
    #expect(
      call.protocol == "DelegationTests.\(setting == .conforming ? "Bystander" : "Listener")")
    #expect(call.subscriber == "DelegationTests.Probe (audit)")
    #expect(call.id as? String == "audit")
    #expect(
      call.subscription == hub.statistics().protocols.first?.subscribers.first?.subscription)
    #expect((call.waited != nil) == form.isNotification)
  }

  @Test(
    "what a handler throws reaches them, and the caller untouched, whatever they return; a second next runs nothing",
    arguments: CallForm.allCases, Setting.allCases)
  func throwing(form: CallForm, setting: Setting) async {
    let outcomes = Recorder<DelegateHub.HandlerOutcome>()
    let hook = Hook { _, next in
      for _ in 0..<2 { outcomes.record(await next()) }
      return .notCalled
    }
    let probe = Probe()
    let (_, delegates) = setting.cast([probe], within: [hook])
    let result = await form(delegates) {
      $0.log.record(1)
      throw Refusal()
    }
    #expect(outcomes.history == [.threw(Refusal()), .threw(Refusal())])
    #expect(outcomes.history.first?.error is Refusal)
    #expect(result == form.result(among: 1, throwing: true))
    #expect(probe.log.history == [1])
  }

  /// What keeps a handler from running.
  enum Obstacle: CaseIterable { case notPassedOn, cancelled, dead }

  @Test(
    "if next is not called, or the subscriber is gone by then, the handler does not run, and counts as absent",
    arguments: CallForm.allCases, Obstacle.allCases)
  func refusing(form: CallForm, obstacle: Obstacle) async {
    let (outcomes, held) = (Recorder<DelegateHub.HandlerOutcome>(), Recorder<Probe>())
    let called = Recorder<Int>()
    held.record(Probe())
    let hub = DelegateHub(
      .init(
        onIncident: { _ in },
        interceptors: [
          Hook { _, next in
            outcomes.record(await next())
            return .returned
          },
          Hook { call, next in
            switch obstacle {
            case .notPassedOn: return .notCalled
            case .cancelled: call.subscription.cancel()
            case .dead: held.clear()
            }
            return await next()
          },
        ]))
    hub.subscribe(held.history[0], to: Listener.self)
    let result = await form(hub[Listener.self]) { _ in called.record(1) }
    #expect(called.history == [])
    #expect(outcomes.history == [.notCalled])
    await hub.drain()
    let (counts, questions) = (hub.statistics().counts, hub.statistics().questions)
    #expect(questions.description == asked())
    if form.isNotification {
      let expected =
        switch obstacle {
        case .notPassedOn: told(passedOver: 1)
        case .cancelled: told(cancelled: 1)
        case .dead: told(expired: 1)
        }
      #expect(counts.description == expected)
    } else if obstacle == .notPassedOn {
      // What `absent:` counts is counted for one that they keep from answering.
      let absent = form.result(among: 1, throwing: true)
      let isCounted = !absent.hasPrefix("threw") && form.call != "collect"
      #expect(result == (isCounted ? absent : form.result(among: 0)))
    } else {
      #expect(result == form.result(among: 0))
    }
    if obstacle != .notPassedOn { #expect(hub[Listener.self].isEmpty) }
  }

  @Test("a vote whose only gate they keep from answering follows the rule's quorum")
  func quorum() async {
    let hub = DelegateHub(.init(interceptors: [Hook { _, _ in .notCalled }]))
    let gate = Probe()
    hub.subscribe(gate, to: Listener.self)
    let all = hub[Listener.self]
    #expect(await all.vote { _ in false })
    #expect(await !all.vote(by: .unanimous(ofAtLeast: 1)) { _ in true })
    #expect(await !all.vote(by: .unanimous(ofAtLeast: 1), absent: .abstains) { _ in true })
    #expect(await !all.vote(by: .majority) { _ in true })
    #expect(
      await !all.vote(by: .unanimous(ofAtLeast: 1)) { _ in
        await Task.yield()
        return true
      })
    withExtendedLifetime(gate) {}
  }

  @Test("a plain asynchronous method is an interceptor as well", arguments: Reach.allCases)
  func plain(reach: Reach) async {
    let events = Recorder<String>()
    let hub = DelegateHub(.init(interceptors: [Plain(events: events)]))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    await reach(hub, suspending: false) { _ in events.record("handler") }
    #expect(events.history.count == 2)
    #expect(events.history.first?.hasPrefix("plain ") == true)
    #expect(events.history.last == "handler")
    withExtendedLifetime(probe) {}
  }

  @Test("waited is the time from the post to the interceptor, and the poster's task-locals are bound around it")
  func waited() {
    let waited = Recorder<Duration?>()
    let (labels, gate) = (Recorder<String>(), Gate())
    let stage = Stage { configuration in
      configuration.propagating = [.taskLocal(Label.$current)]
      configuration.interceptors = [
        Hook { call, next in
          waited.record(call.waited)
          labels.record(Label.current)
          return await next()
        }
      ]
    }
    let probes = stage.cast(1)
    Label.$current.withValue("posted") {
      stage.hub[Listener.self].notify { _ in await gate.pass() }
    }
    stage.hub[Listener.self].notify { _ in }
    stage.clock.advance(by: .seconds(3))
    stage.run()
    stage.clock.advance(by: .seconds(2))
    stage.open(gate)
    #expect(waited.history == [.seconds(3), .seconds(5)])
    #expect(labels.history == ["posted", "nothing"])
    withExtendedLifetime(probes) {}
  }

  // MARK: Interceptors that take their time

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
    for (id, probe) in probes.enumerated() { stage.hub.subscribe(probe, to: Listener.self, id: id) }
    return (stage, probes)
  }

  @Test(
    "one that hangs, before the handler or after it, holds up its own call only",
    arguments: [false, true])
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
    #expect(vote.result == false)
    #expect(told.history == ["late DelegationTests.Probe (0)"])
    #expect(stage.perform { await $0.drain(within: .zero).isEmpty } == false)
    stage.open(gate)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(probes[0].log.history == [1])
  }

  @Test("one that blocks its thread holds up its own call only")
  func blocking() async {
    let blockade = Blockade()
    let hub = DelegateHub(
      .init(
        executor: ThreadPool(threads: 3), onIncident: { _ in },
        interceptors: [
          Hook { call, next in
            if call.id != nil, call.call == .notify { blockade.enter() }
            return await next()
          }
        ]))
    let (blocked, free) = (Probe(), Probe())
    hub.subscribe(blocked, to: Listener.self, id: 0)
    hub.subscribe(free, to: Listener.self)
    hub[Listener.self].notify { $0.log.record(1) }
    #expect(await free.log.history(of: 1) == [1])
    #expect(await hub[Listener.self].vote { _ in true })
    await blockade.entry()
    #expect(blockade.end())
    await hub.drain()
    #expect(blocked.log.history == [1])
  }

  @Test("a decision, a deadline and the caller's cancellation cancel it", arguments: 0..<3)
  func cancelling(way: Int) {
    let (events, gate) = (Recorder<String>(), Gate())
    let (stage, probes) = stage { next in
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
    #expect(vote.result == (way != 0))
    #expect(events.history == ["cancelled", "cancelled: true"])
    withExtendedLifetime(probes) {}
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
    "waits in it are waits in the handler: they do not wait for themselves",
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
    #expect(waits.history.count == 1)
    #expect(bystander.log.history == [1])
    #expect(probe.log.history == [2])
    held.clear()
  }

  @Test("those who are dead or do not conform have none, late as they may be; who throws says nothing of the next one")
  func notReached() async {
    let intercepted = Recorder<DelegateHub.HandlerOutcome>()
    let held = Recorder<Probe>()
    held.record(Probe("mortal"))
    let hub = DelegateHub(
      .init(
        onIncident: { _ in },
        interceptors: [
          Hook { call, next in
            if call.id as? String == "mortal" { held.clear() }
            let outcome = await next()
            intercepted.record(outcome)
            return outcome
          }
        ]))
    let probe = Probe("throws")
    hub.subscribe(probe, to: Bystander.self)
    hub.subscribe(Probe("dead"), to: Bystander.self)
    #expect(
      await hub[Bystander.self].conforming(to: (any Bystander & Error).self).vote(
        within: .seconds(60), absent: .counts(as: false)
      ) { _ in true })
    #expect(intercepted.history == [])
    hub.subscribe(held.history[0], to: Bystander.self, id: "mortal")
    #expect(await hub[Bystander.self].vote(absent: .abstains) { _ in throw Refusal() })
    #expect(
      intercepted.history.sorted { $0.isCalled && !$1.isCalled }
        == [.threw(Refusal()), .notCalled])
    withExtendedLifetime(probe) {}
  }
}

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
    "the first one is outermost, and what they bind reaches the handler",
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
      [probe],
      within: [Hook.noting("outer", in: events), Hook.noting("inner", in: events), telling])
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
    #expect(calls.history.count == 1 && "\(call.call)" == form.call)
    #expect(
      call.protocol == "DelegationTests.\(setting == .conforming ? "Bystander" : "Listener")")
    #expect(call.subscriber == "DelegationTests.Probe (audit)" && call.id as? String == "audit")
    #expect(
      call.subscription == hub.statistics().protocols.first?.subscribers.first?.subscription)
    #expect((call.waited != nil) == form.isNotification)
  }

  @Test(
    "what a handler throws reaches them and the caller, whatever they return",
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
    #expect(result == form.result(among: 1, throwing: true) && probe.log.history == [1])
  }

  /// What keeps a handler from running.
  enum Obstacle: CaseIterable { case notPassedOn, cancelled, dead }

  @Test(
    "without next, or once the subscriber is gone, no handler runs",
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
    #expect(called.history == [] && outcomes.history == [.notCalled])
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
      if form.call == "notifyAndWait" {
        #expect(result == "addressed 1, handled 0, failed 0, missed 1")
      }
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
    hub.cast(1)
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
  }

  @Test("a plain asynchronous method is an interceptor as well", arguments: Reach.allCases)
  func plain(reach: Reach) async {
    let events = Recorder<String>()
    let hub = DelegateHub(.init(interceptors: [Plain(events: events)]))
    hub.cast(1)
    await reach(hub, suspending: false) { _ in events.record("handler") }
    #expect(events.history.count == 2 && events.history.last == "handler")
    #expect(events.history.first?.hasPrefix("plain ") == true)
  }

  @Test("waited is the time since the post, whose task-locals are bound around it")
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
    stage.cast(1)
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
  }
}

import Dispatch
import Testing

@testable import Delegation

/// Where handlers of an intercepted call run.
private enum Surroundings: CaseIterable, Sendable {
  case plain, hubExecutor, queue, conforming

  func hub(_ interceptors: [any DelegateHub.Interceptor]) -> DelegateHub {
    DelegateHub(
      .init(
        executor: self == .hubExecutor ? ThreadPool(threads: 2) : nil, onIncident: { _ in },
        interceptors: interceptors))
  }

  func delegates(of hub: DelegateHub) -> Delegates<any Listener> {
    guard self == .conforming else { return hub[Listener.self] }
    return hub[Bystander.self].conforming(to: Listener.self)
  }

  func subscribe(_ probe: Probe, to hub: DelegateHub) {
    switch self {
    case .conforming: hub.subscribe(probe, to: Bystander.self, id: 7)
    case .queue: hub.subscribe(probe, to: Listener.self, id: 7, on: DispatchQueue(label: "own"))
    default: hub.subscribe(probe, to: Listener.self, id: 7)
    }
  }
}

@Suite("Interceptors", .inTurn)
struct InterceptorTests {
  @Test(
    "the first one is outermost, and what they bind reaches the handler, in every form of call",
    arguments: CallForm.allCases, Surroundings.allCases)
  private func order(form: CallForm, surroundings: Surroundings) async {
    let events = Recorder<String>()
    let hub = surroundings.hub(
      [.noting("outer", in: events), .noting("inner", in: events)] as [Hook])
    let probe = Probe()
    surroundings.subscribe(probe, to: hub)
    let result = await form(surroundings.delegates(of: hub)) { probe in
      events.record("\(probe.name) in \(Label.current)")
      if form.isOnMainActor { MainActor.preconditionIsolated() }
    }
    #expect(
      events.history == [
        "outer begins in nothing", "inner begins in outer", "probe in inner",
        "inner ends in outer: returned", "outer ends in nothing: returned",
      ])
    let plain = DelegateHub()
    surroundings.subscribe(probe, to: plain)
    #expect(await result == form(surroundings.delegates(of: plain)) { _ in })
  }

  @Test("they are told of the call, in every form", arguments: CallForm.allCases)
  func told(form: CallForm) async throws {
    let calls = Recorder<DelegateHub.HandlerCall>()
    let hub = DelegateHub(
      .init(interceptors: [
        Hook { call, next in
          calls.record(call)
          return await next()
        }
      ]))
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self, id: "audit")
    _ = await form(hub[Listener.self]) { _ in }
    let call = try #require(calls.history.first)
    #expect(calls.history.count == 1)
    #expect("\(call.call)" == form.call)
    #expect(call.protocol == "DelegationTests.Listener")
    #expect(call.subscriber == "DelegationTests.Probe (audit)")
    #expect(call.id as? String == "audit")
    #expect(call.subscription == subscription)
    #expect((call.waited != nil) == form.isNotification)
    withExtendedLifetime(probe) {}
  }

  @Test(
    "what a handler throws reaches them, and the caller untouched, whatever they return",
    arguments: CallForm.allCases, Surroundings.allCases)
  private func throwing(form: CallForm, surroundings: Surroundings) async {
    let outcomes = Recorder<DelegateHub.HandlerOutcome>()
    let hub = surroundings.hub([
      Hook { _, next in
        outcomes.record(await next())
        return .notCalled
      }
    ])
    let probe = Probe()
    surroundings.subscribe(probe, to: hub)
    let result = await form(surroundings.delegates(of: hub)) { _ in throw Refusal() }
    #expect(outcomes.history == [.threw(Refusal())])
    #expect(outcomes.history.first?.error is Refusal)
    let plain = surroundings.hub([])
    surroundings.subscribe(probe, to: plain)
    #expect(
      await result == form(surroundings.delegates(of: plain)) { _ in throw Refusal() })
    let (counts, plainCounts) = await (hub.statistics().counts, plain.statistics().counts)
    #expect(counts == plainCounts)
  }

  @Test(
    "if next is not called the handler does not run, and counts as passed over or absent",
    arguments: CallForm.allCases, Surroundings.allCases)
  private func refusing(form: CallForm, surroundings: Surroundings) async {
    let outcomes = Recorder<DelegateHub.HandlerOutcome>()
    let hub = surroundings.hub([
      Hook { _, next in
        outcomes.record(await next())
        return .returned
      },
      Hook { _, _ in .notCalled },
    ])
    let probe = Probe()
    surroundings.subscribe(probe, to: hub)
    let result = await form(surroundings.delegates(of: hub)) { $0.log.record(1) }
    #expect(probe.log.history == [])
    #expect(outcomes.history == [.notCalled])
    // What `absent:` counts is counted for it.
    let counting: [CallForm] = [
      .voteAbsent, .askAbsent, .askInTurnAbsent, .passAbsent, .passEachWithin,
      .voteAbsentOnMainActor, .askAbsentOnMainActor,
    ]
    if !counting.contains(form) {
      let empty = DelegateHub()
      #expect(await result == form(surroundings.delegates(of: empty)) { _ in })
    }
    let counts = await hub.statistics().counts
    #expect(counts.passedOver == (form.isNotification ? 1 : 0))
    #expect(counts.addressed == counts.passedOver)
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
    #expect(await !all.vote(by: .unanimous(ofAtLeast: 1), absent: .counts(as: false)) { _ in true })
    #expect(
      await !all.vote(by: .unanimous(ofAtLeast: 1)) { _ in
        await Task.yield()
        return true
      })
    #expect(await !all.vote(by: .majority) { _ in true })
    withExtendedLifetime(gate) {}
  }

  @Test("a second call of next runs nothing", arguments: CallForm.allCases)
  func twice(form: CallForm) async {
    let outcomes = Recorder<DelegateHub.HandlerOutcome>()
    let hook = Hook { _, next in
      for _ in 0..<2 { outcomes.record(await next()) }
      return .returned
    }
    let hub = DelegateHub(.init(onIncident: { _ in }, interceptors: [hook, hook]))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    _ = await form(hub[Listener.self]) {
      $0.log.record(1)
      throw Refusal()
    }
    #expect(probe.log.history == [1])
    #expect(outcomes.history.first == .threw(Refusal()))
    #expect(outcomes.history.count == 4)
    #expect(outcomes.history[1] == .threw(Refusal()))
  }

  @Test(
    "one that dies or is removed before next is not called, and next says so",
    arguments: CallForm.allCases, [false, true])
  func dying(form: CallForm, isCancelled: Bool) async {
    let outcomes = Recorder<DelegateHub.HandlerOutcome>()
    let called = Recorder<Int>()
    let held = Lock<Probe?>(Probe())
    let hub = DelegateHub(
      .init(
        onIncident: { _ in },
        interceptors: [
          Hook { call, next in
            let probe = held.withLock { $0.take() }
            if isCancelled { call.subscription.cancel() }
            withExtendedLifetime(isCancelled ? probe : nil) {}
            _ = consume probe
            outcomes.record(await next())
            return .returned
          }
        ]))
    if let probe = held.withLock({ $0 }) { hub.subscribe(probe, to: Listener.self) }
    _ = await form(hub[Listener.self]) { _ in called.record(1) }
    #expect(outcomes.history == [.notCalled])
    #expect(called.history == [])
    #expect((!!hub[Listener.self].isEmpty))
    let counts = await hub.statistics().counts
    #expect([counts.handled, counts.passedOver, counts.waiting] == [0, 0, 0])
    #expect((isCancelled ? counts.cancelled : counts.expired) == (form.isNotification ? 1 : 0))
  }

  @Test("waited is the time from the post to the interceptor")
  func waited() {
    let waited = Recorder<Duration?>()
    let stage = Stage { configuration in
      configuration.interceptors = [
        Hook { call, next in
          waited.record(call.waited)
          return await next()
        }
      ]
    }
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    let gate = Gate()
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.hub[Listener.self].notify() { _ in }
    stage.clock.advance(by: .seconds(3))
    stage.run()
    stage.clock.advance(by: .seconds(2))
    stage.open(gate)
    #expect(waited.history == [.seconds(3), .seconds(5)])
    withExtendedLifetime(probe) {}
  }
}

import Dispatch
import Testing

@testable import Delegation

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

@Suite("Interceptors that do harm, and what reaches through them", .inTurn)
struct InterceptorFaultTests {
  /// A stage whose interceptor does something around the handlers of the subscriber "0".
  private func stage(
    slowAfter: Duration? = nil, told: Recorder<String> = Recorder(),
    _ body:
      nonisolated(nonsending) @escaping @Sendable (Hook.Next) async -> DelegateHub.HandlerOutcome
  ) -> Stage {
    Stage { configuration in
      configuration.slowAfter = slowAfter
      configuration.onIncident = { told.record("\($0.kind) \($0.subscriber)") }
      configuration.interceptors = [
        Hook { call, next in
          call.id as? Int == 0 ? await body(next) : await next()
        }
      ]
    }
  }

  private func cast(_ stage: Stage, _ count: Int = 3) -> [Probe] {
    let probes = Probe.many(count)
    for (id, probe) in probes.enumerated() { stage.hub.subscribe(probe, to: Listener.self, id: id) }
    return probes
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

  @Test(
    "one that hangs, before the handler or after it, holds up its own call only",
    arguments: [false, true])
  func hanging(isAfter: Bool) {
    let told = Recorder<String>()
    let gate = Gate()
    let stage = stage(told: told) { next in
      if isAfter { _ = await next() }
      await gate.pass()
      return await next()
    }
    let probes = cast(stage)
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()
    #expect(probes.map(\.log.history) == [isAfter ? [1] : [], [1], [1]])
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in true }
    }
    let veto = stage.start { hub in await hub[Listener.self].vote() { $0.name != "1" } }
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
    let semaphore = DispatchSemaphore(value: 0)
    let hub = DelegateHub {
      $0.executor = ThreadPool(threads: 3)
      $0.onIncident = { _ in }
      $0.interceptors = [
        Hook { call, next in
          if call.id != nil { semaphore.waitForTest() }
          return await next()
        }
      ]
    }
    let (blocked, free) = (Probe(), Probe())
    hub.subscribe(blocked, to: Listener.self, id: 0)
    hub.subscribe(free, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(1) }
    #expect(await free.log.history(of: 1) == [1])
    #expect(
      await hub[Listener.self].vote(within: .milliseconds(1), absent: .counts(as: false)) { _ in
        true
      } == false)
    for _ in 0..<2 { semaphore.signal() }
    await hub.drain()
    #expect(blocked.log.history == [1])
  }

  @Test("it is slow as a handler is")
  func slow() {
    let told = Recorder<String>()
    let gate = Gate()
    let stage = stage(slowAfter: .seconds(1), told: told) { next in
      await gate.pass()
      return await next()
    }
    let probes = cast(stage)
    let vote = stage.start { hub in await hub[Listener.self].vote() { _ in true } }
    stage.hub[Listener.self].notify() { _ in }
    stage.run()
    // The alarm of the first was set before the second began.
    for _ in 0..<2 { stage.advance(by: .seconds(1)) }
    #expect(told.history == Array(repeating: "slow DelegationTests.Probe (0)", count: 2))
    stage.open(gate)
    #expect(vote.result == true)
    withExtendedLifetime(probes) {}
  }

  @Test("a decision, a deadline and the caller's cancellation cancel it", arguments: 0..<3)
  func cancelling(way: Int) {
    let events = Recorder<String>()
    let gate = Gate()
    let stage = stage { next in
      await withTaskCancellationHandler {
        await gate.pass()
        events.record("cancelled: \(Task.isCancelled)")
        return await next()
      } onCancel: {
        events.record("cancelled")
        gate.open()
      }
    }
    let probes = cast(stage)
    let vote = stage.start { hub in
      way == 1
        ? await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in true }
        : await hub[Listener.self].vote() { way == 2 || $0.name == "0" }
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
    let hub = DelegateHub {
      $0.interceptors = [
        Hook { call, next in
          guard call.id as? Int == 0 else { return await next() }
          return await Label.$current.withValue("bound") { await next() }
        }
      ]
    }
    let probes = Probe.many(3)
    for (id, probe) in probes.enumerated() { hub.subscribe(probe, to: Listener.self, id: id) }
    let names = await hub[Listener.self].ask(combining: .reduce([]) { @Sendable (names: [String], name: String) in
        names + ["\(name) \(Label.current)"]
      }
    ) { probe in
      await Task { seen.record("\(probe.name) \(Label.current)") }.value
      return probe.name
    }
    #expect(names == ["0 nothing", "1 nothing", "2 nothing"])
    #expect(seen.history.sorted() == ["0 bound", "1 nothing", "2 nothing"])
    _ = await hub[Listener.self].ask(combining: .all()) {
      seen.record("\($0.name) \(Label.current)")
    }
    #expect(seen.history.suffix(3) == ["0 bound", "1 nothing", "2 nothing"])
    await hub[Listener.self].notifyAndWait() { seen.record("\($0.name) \(Label.current)") }
    #expect(seen.history.suffix(3).sorted() == ["0 bound", "1 nothing", "2 nothing"])
  }

  @Test("the poster's task-locals are bound around it")
  func propagated() {
    let seen = Recorder<String>()
    let stage = Stage { configuration in
      configuration.propagating = [.taskLocal(Label.$current)]
      configuration.interceptors = [Hook.noting("hook", in: seen)]
    }
    let probes = stage.cast(1)
    Label.$current.withValue("posted") {
      stage.hub[Listener.self].notify() { _ in seen.record(Label.current) }
    }
    stage.run()
    #expect(
      seen.history == ["hook begins in posted", "hook", "hook ends in posted: returned"])
    withExtendedLifetime(probes) {}
  }

  @Test(
    "waits in it are waits in the handler: they do not wait for themselves",
    arguments: [Reach.notify, .notifyAndWait, .vote, .voteWithin, .collect, .askInTurn])
  func waiting(reach: Reach) async {
    let held = Lock<DelegateHub?>(nil)
    let waits = Recorder<Bool>()
    let hub = DelegateHub {
      $0.interceptors = [
        Hook { call, next in
          guard call.id as? Int == 0, let hub = held.withLock({ $0 }) else { return await next() }
          waits.record(await hub.drain().isEmpty)
          await hub[Bystander.self].notifyAndWait() { $0.log.record(1) }
          let outcome = await next()
          await call.subscription.cancelAndWait()
          return outcome
        }
      ]
    }
    held.withLock { $0 = hub }
    let (probe, bystander) = (Probe(), Probe())
    hub.subscribe(probe, to: Listener.self, id: 0)
    hub.subscribe(bystander, to: Bystander.self)
    await reach(hub, suspending: false) { $0.log.record(2) }
    #expect(waits.history.count == 1)
    #expect(bystander.log.history == [1])
    #expect(probe.log.history == [2])
    held.withLock { $0 = nil }
  }

  @Test(
    "neither the subscriber nor the hub is kept by it",
    arguments: [Reach.notify, .vote, .askInTurn])
  func keeping(reach: Reach) async {
    let gate = Gate()
    let held = Lock<(Probe?)>(Probe())
    let isDead = Recorder<Bool>()
    let lifetimes = Lifetimes()
    do {
      let tracked = lifetimes.make()
      let hub = DelegateHub {
        $0.interceptors = [
          Hook { call, next in
            _ = tracked
            let obituary = held.withLock { probe in
              defer { probe = nil }
              return probe.map { Obituary(of: $0) }
            }
            let isCalled = await next().isCalled
            isDead.record(obituary?.isDead == true && !isCalled)
            await gate.pass()
            return .returned
          }
        ]
      }
      if let probe = held.withLock({ $0 }) { hub.subscribe(probe, to: Listener.self) }
      gate.open()
      await reach(hub, suspending: false) { _ in }
    }
    #expect(isDead.history == [true])
    while lifetimes.alive > 0 { await Task.yield() }
  }

  @Test("subscribers that it keeps from running do not keep others from being asked")
  func absent() {
    let stage = stage { _ in .notCalled }
    let probes = cast(stage)
    let first = stage.start { hub in await hub[Listener.self].askInTurn() { $0.name as String? } }
    #expect(first.result == "1")
    let vote = stage.start { hub in
      await hub[Listener.self].vote(by: .unanimous(ofAtLeast: 3)) { _ in true }
    }
    #expect(vote.result == false)
    withExtendedLifetime(probes) {}
  }
}

extension DispatchSemaphore {
  /// Not in an asynchronous function, where the compiler warns of it.
  fileprivate func waitForTest() { wait() }
}

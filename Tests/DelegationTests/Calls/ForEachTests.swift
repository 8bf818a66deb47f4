import Delegation
import class Foundation.Thread
import Testing

@Suite("forEach: everybody is called now, where the caller runs", .inTurn)
struct ForEachTests {
  private let hub = DelegateHub()
  private let probes = Probe.many(4)
  private var names: [String] {
    var names: [String] = []
    hub[Listener.self].forEach { names.append($0.name) }
    return names
  }

  init() {
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
  }

  @Test("in the order of priority, then of subscription, or the other way round; event by event")
  func order() async {
    hub.subscribe(probes[2], to: Listener.self, priority: 1)
    #expect(names == ["2", "0", "1", "3"])
    var reversed: [String] = []
    hub[Listener.self].forEach(reversed: true) { reversed.append($0.name) }
    #expect(reversed == ["3", "1", "0", "2"])
    var awaited: [String] = []
    await hub[Listener.self].forEach(reversed: true) { probe in
      await Task.yield()
      awaited.append(probe.name)
    }
    #expect(awaited == reversed)
    // Within another one too: those behind have the inner event first.
    var nested: [String] = []
    hub[Listener.self].forEach { outer in
      if outer.name == "2" { hub[Listener.self].forEach { nested.append("b\($0.name)") } }
      nested.append("a\(outer.name)")
    }
    #expect(nested == ["b2", "b0", "b1", "b3", "a2", "a0", "a1", "a3"])
    func add(_ sum: inout Int) { hub[Listener.self].forEach { sum += Int($0.name)! } }
    var sum = 0
    add(&sum)
    #expect(sum == 6)
  }

  @Test("from synchronous code, each change is seen by the same thread's next call")
  func ownChanges() {
    for round in 0..<100 {
      let probe = Probe("new \(round)")
      let subscription = hub.subscribe(probe, to: Listener.self)
      #expect(names.last == "new \(round)")
      subscription.cancel()
      #expect(names == ["0", "1", "2", "3"])
    }
  }

  @Test("who is gone before its turn, or added, is not called", arguments: [false, true])
  func changesWithin(isAwaiting: Bool) async {
    var mortal: Probe? = Probe("mortal")
    hub.subscribe(mortal!, to: Listener.self)
    let late = Probe("late")
    var called: [String] = []
    func call(_ probe: any Listener) {
      called.append(probe.name)
      guard called.count == 1 else { return }
      hub.unsubscribe(probes[1])
      mortal = nil
      hub.subscribe(late, to: Listener.self)
    }
    if isAwaiting {
      await hub[Listener.self].forEach { probe async in call(probe) }
    } else {
      hub[Listener.self].forEach(call)
    }
    #expect(called == ["0", "2", "3"] && names == ["0", "2", "3", "late"])
  }

  @Test("the first error ends the call and keeps its type; it is counted as failed")
  func errors() async {
    var called: [String] = []
    do throws(Refusal) {
      try hub[Listener.self].forEach { probe throws(Refusal) in
        called.append(probe.name)
        if probe === probes[1] { throw Refusal(reason: probe.name) }
      }
      Issue.record("it did not throw")
    } catch {
      #expect(error == Refusal(reason: "1"))
    }
    do throws(Refusal) {
      try await hub[Listener.self].forEach { probe async throws(Refusal) in
        await Task.yield()
        called.append(probe.name)
        if probe === probes[1] { throw Refusal(reason: probe.name) }
      }
      Issue.record("it did not throw")
    } catch {
      #expect(error == Refusal(reason: "1"))
    }
    #expect(called == ["0", "1", "0", "1"])
    #expect(hub.statistics().questions.description == asked(answered: 2, failed: 2))
  }

  actor Counter {
    var names: [String] = []

    func call(_ hub: DelegateHub) async {
      hub[Listener.self].forEach { names.append($0.name) }
      await hub[Listener.self].forEach { probe in
        self.assertIsolated()
        await Task.yield()
        self.assertIsolated()
        names.append(probe.name)
      }
    }
  }

  @Test("on an actor both forms run there; in a thread, without any executor")
  func isolation() async {
    let counter = Counter()
    await counter.call(hub)
    #expect(await counter.names == ["0", "1", "2", "3", "0", "1", "2", "3"])
    await Task { @MainActor [hub] in
      hub[Listener.self].forEach { _ in MainActor.assertIsolated() }
      await hub[Listener.self].forEach { _ in
        MainActor.assertIsolated()
        await Task.yield()
        MainActor.assertIsolated()
      }
    }.value
    let executor = ManualExecutor()
    let driven = DelegateHub(on: executor)
    driven.subscribe(probes[0], to: Listener.self)
    driven[Listener.self].forEach { $0.log.record(1) }
    #expect(probes[0].log.history == [1] && executor.pending == 0)
  }

  @Test("a handler may call everything, forEach of the same protocol too")
  func reentrancy() async {
    var count = 0
    hub[Listener.self].forEach { _ in hub[Listener.self].forEach { _ in count += 1 } }
    #expect(count == 16)
    await hub[Listener.self].forEach { probe in
      let left = await hub.drain(within: nil)
      #expect(left.subscribers.map(\.running) == [1])
      #expect(await hub[Listener.self].vote { $0.name != probe.name } == false)
      if probe === probes[3] { await hub.unsubscribeAndWait(probe) }
    }
    #expect(names == ["0", "1", "2"])
  }

  @Test("it overtakes what waits in a mailbox")
  func overtaking() throws {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    hub.subscribe(probes[0], to: Listener.self)
    hub[Listener.self].notify { $0.log.record(1) }
    hub[Listener.self].forEach { $0.log.record(2) }
    _ = try executor.drive { await hub.drain() }
    #expect(probes[0].log.history == [2, 1])
  }

  @Test("waits and Leftovers see a handler that runs in it", arguments: [false, true])
  func waits(isSuspending: Bool) async {
    let (hub, probe) = (DelegateHub(), probes[0])
    let subscription = hub.subscribe(probe, to: Listener.self)
    let (begun, gate, blockade) = (Gate(), Gate(), Blockade())
    let call = Task.detached {
      if isSuspending {
        await hub[Listener.self].forEach { _ in
          begun.arrive()
          await gate.pass()
        }
      } else {
        // On a thread of its own: it would keep one of the pool's, of which the others need two.
        await withCheckedContinuation { ended in
          Thread {
            hub[Listener.self].forEach { _ in
              begun.arrive()
              blockade.enter()
            }
            ended.resume()
          }.start()
        }
      }
    }
    await begun.arrivals()
    let left = await hub.drain(within: .zero)
    #expect(left.subscribers.map(\.subscription) == [subscription])
    #expect(left.subscribers.map(\.running) == [1] && hub.statistics().questions.answering == 1)
    let isOver = Recorder<Bool>()
    let wait = Task.detached {
      await subscription.cancelAndWait()
      isOver.record(true)
    }
    while subscription.isActive { await Task.yield() }
    #expect(isOver.history == [])
    gate.open()
    _ = blockade.end()
    await wait.value
    await call.value
    await hub.drain()
    #expect(hub.statistics().questions.answered == 1)
  }

  @Test("the asynchronous form runs within interceptors, the synchronous one does not")
  func interceptors() async {
    let outcomes = Recorder<String>()
    let hub = DelegateHub(
      .init(interceptors: [
        Hook { call, next in
          if call.id as? Int == 1 { return .notCalled }
          let outcome = await next()
          outcomes.record("\(call.call) \(outcome.error == nil)")
          return outcome
        }
      ]))
    for (id, probe) in probes.enumerated() { hub.subscribe(probe, to: Listener.self, id: id) }
    var called: [String] = []
    hub[Listener.self].forEach { called.append($0.name) }
    #expect(called == ["0", "1", "2", "3"] && outcomes.history == [])
    called = []
    await #expect(throws: Refusal.self) {
      try await hub[Listener.self].forEach { probe in
        await Task.yield()
        called.append(probe.name)
        if probe.name == "2" { throw Refusal(reason: "2") }
      }
    }
    #expect(called == ["0", "2"] && outcomes.history == ["forEach true", "forEach false"])
    #expect(hub.statistics().questions.description == asked(answered: 5, failed: 1))
  }

  @Test("a subscriber with an executor stops the program, which says who and where")
  func executors() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = DelegateHub()
      let probe = Probe()
      hub.subscribe(
        probe, to: Listener.self, id: "audit", on: ManualExecutor(), fileID: "Shop/Cart.swift",
        line: 5)
      hub[Listener.self].forEach { $0.log.record(1) }
    }
    #expect(said(result, "Probe (audit), subscribed at Shop/Cart.swift:5"))
    #expect(said(result, "subscribe it without `on:`"))
  }

  @Test("unless it would not be called: dead, or not conforming", arguments: [false, true])
  func executorsOfOthers(isIntercepted: Bool) async {
    let hub = DelegateHub(
      .init(
        onIncident: { _ in }, interceptors: isIntercepted ? [Hook { await $1() }] : []))
    func subscribe(_ probe: Probe) {
      hub.subscribe(probe, to: Listener.self, on: ManualExecutor())
    }
    subscribe(Probe())
    hub[Listener.self].forEach { _ in Issue.record("it has died") }
    subscribe(Probe())
    await hub[Listener.self].forEach { _ async in Issue.record("it has died") }
    let alive = Probe()
    subscribe(alive)
    let others = hub[Listener.self].conforming(to: (any Error & Sendable).self)
    others.forEach { _ in Issue.record("it does not conform") }
    await others.forEach { _ async in Issue.record("it does not conform") }
    #expect(hub.statistics().questions.asked == 0)
    withExtendedLifetime(alive) {}
  }

  @Test("a cancelled task's handlers see that, and all of them are called")
  func cancellation() async {
    let (hub, log) = (hub, Recorder<Bool>())
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await hub[Listener.self].forEach { _ in
        await Task.yield()
        log.record(Task.isCancelled)
      }
    }.value
    #expect(log.history == [true, true, true, true])
  }
}

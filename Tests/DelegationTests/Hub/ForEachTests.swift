import class Foundation.Thread
import Testing

@testable import Delegation

@Suite("forEach: everybody is called now, where the caller runs", .inTurn)
struct ForEachTests {
  private let hub = DelegateHub()
  private let probes = Probe.many(4)
  private var names: [String] {
    var names: [String] = []
    hub[Listener.self].forEach() { names.append($0.name) }
    return names
  }

  init() {
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
  }

  @Test("in the order of priority, then of subscription, or the other way round")
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

  @Test("event by event: everybody has had one before anybody has the next")
  func eventByEvent() {
    var history: [String] = []
    for event in ["a", "b"] { hub[Listener.self].forEach() { history.append(event + $0.name) } }
    #expect(history == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"])
  }

  @Test(
    "one that is cancelled or dies before its turn is not called; one that is added is not, either")
  func changesWithin() {
    var mortal: Probe? = Probe("mortal")
    hub.subscribe(mortal!, to: Listener.self)
    let late = Probe("late")
    var called: [String] = []
    hub[Listener.self].forEach() { probe in
      called.append(probe.name)
      guard called.count == 1 else { return }
      hub.unsubscribe(probes[1])
      mortal = nil
      hub.subscribe(late, to: Listener.self)
    }
    #expect(called == ["0", "2", "3"])
    #expect(names == ["0", "2", "3", "late"])
  }

  @Test("a handler that ends it stops at once what comes after")
  func disconnecting() {
    var messages = 0
    for message in 1...100 where (!hub[Listener.self].isEmpty) {
      hub[Listener.self].forEach() { _ in messages = message }
      if message == 49 { hub.unsubscribeAll(from: Listener.self) }
    }
    #expect(messages == 49)
  }

  @Test("the first error ends the call and keeps its type; it is counted as failed")
  func errors() async {
    let (hub, probes) = (hub, probes)
    func check(_ called: [String]) async {
      #expect(called == ["0", "1"])
      let questions = await hub.statistics().questions
      #expect(questions.answered == 1)
      #expect(questions.failed == 1)
    }
    var called: [String] = []
    do throws(Refusal) {
      try hub[Listener.self].forEach() { probe throws(Refusal) in
        called.append(probe.name)
        if probe === probes[1] { throw Refusal(reason: probe.name) }
      }
      Issue.record("it did not throw")
    } catch {
      #expect(error == Refusal(reason: "1"))
    }
    await check(called)
    called = []
    await #expect(throws: Refusal(reason: "1")) {
      try await hub[Listener.self].forEach() { probe in
        await Task.yield()
        if probe === probes[1] { throw Refusal(reason: probe.name) }
      }
    }
    #expect(await hub.statistics().questions.failed == 2)
  }

  @Test("it changes inout parameters and local variables")
  func inoutParameters() {
    func add(_ sum: inout Int) { hub[Listener.self].forEach() { sum += Int($0.name)! } }
    var sum = 0
    add(&sum)
    #expect(sum == 6)
  }

  actor Counter {
    var names: [String] = []

    func call(_ hub: DelegateHub) async {
      hub[Listener.self].forEach() { names.append($0.name) }
      await hub[Listener.self].forEach() { probe in
        self.assertIsolated()
        await Task.yield()
        self.assertIsolated()
        names.append(probe.name)
      }
    }
  }

  @Test("on an actor, both forms run there and change its state")
  func onAnActor() async {
    let counter = Counter()
    await counter.call(hub)
    #expect(await counter.names == ["0", "1", "2", "3", "0", "1", "2", "3"])
  }

  @Test("on the main actor, both forms run there")
  @MainActor
  func onTheMainActor() async {
    var count = 0
    hub[Listener.self].forEach() { _ in
      MainActor.assertIsolated()
      count += 1
    }
    await hub[Listener.self].forEach() { _ in
      MainActor.assertIsolated()
      await Task.yield()
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 8)
  }

  @Test("the hub's executor does not matter: handlers stay where the caller runs")
  func hubsExecutor() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    hub.subscribe(probes[0], to: Listener.self)
    var count = 0
    hub[Listener.self].forEach() { _ in count += 1 }
    #expect(count == 1)
    #expect(executor.pending == 0)
  }

  @Test("a handler may call everything, forEach of the same protocol too")
  func reentrancy() async {
    var count = 0
    hub[Listener.self].forEach() { _ in hub[Listener.self].forEach() { _ in count += 1 } }
    #expect(count == 16)
    await hub[Listener.self].forEach() { probe in
      let left = await hub.drain(within: nil)
      #expect(left.subscribers.map(\.running) == [1])
      #expect(await hub[Listener.self].vote() { $0.name != probe.name } == false)
      if probe === probes[3] { await hub.unsubscribeAndWait(probe) }
    }
    #expect(names == ["0", "1", "2"])
  }

  @Test("it overtakes what waits in a mailbox")
  func overtaking() throws {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    hub.subscribe(probes[0], to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(1) }
    hub[Listener.self].forEach() { $0.log.record(2) }
    _ = try executor.drive { await hub.drain() }
    #expect(probes[0].log.history == [2, 1])
  }

  @Test(
    "cancelAndWait, drain and Leftovers see a handler that runs in it", arguments: [false, true])
  func waits(isSuspending: Bool) async {
    let (hub, probe) = (DelegateHub(), probes[0])
    let subscription = hub.subscribe(probe, to: Listener.self)
    let (begun, gate, blockade) = (Gate(), Gate(), Blockade())
    let call = Task.detached {
      if isSuspending {
        await hub[Listener.self].forEach() { _ in
          begun.arrive()
          await gate.pass()
        }
      } else {
        // On a thread of its own: it would keep one of the pool's, of which the others need two.
        await withCheckedContinuation { ended in
          Thread {
            hub[Listener.self].forEach() { _ in
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
    #expect(left.subscribers.map(\.running) == [1])
    #expect(await hub.statistics().questions.answering == 1)
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
    #expect(await hub.statistics().questions.answered == 1)
  }

  @Test("a slow handler is an incident of forEach, in both forms", arguments: [false, true])
  func slow(isSuspending: Bool) async {
    let clock = ManualClock()
    let reported = Recorder<String>()
    var configuration = DelegateHub.Configuration()
    configuration.clock = clock
    configuration.slowAfter = .seconds(1)
    configuration.onIncident = { reported.record("\($0.kind) in \($0.call)") }
    let hub = DelegateHub(configuration)
    hub.subscribe(probes[0], to: Listener.self)
    let (begun, gate, blockade) = (Gate(), Gate(), Blockade())
    let call = Task.detached {
      if isSuspending {
        await hub[Listener.self].forEach() { _ in
          begun.arrive()
          await gate.pass()
        }
      } else {
        // On a thread of its own: it would keep one of the pool's, of which the others need two.
        await withCheckedContinuation { ended in
          Thread {
            hub[Listener.self].forEach() { _ in
              begun.arrive()
              blockade.enter()
            }
            ended.resume()
          }.start()
        }
      }
    }
    await begun.arrivals()
    _ = await clock.alarms()
    clock.advance(by: .seconds(1))
    #expect(await reported.history(of: 1) == ["slow in forEach"])
    gate.open()
    _ = blockade.end()
    await call.value
    #expect(hub.slowWatch?.start(of: 1) == nil)  // nobody watches it any more
  }

  @Test("the last handler of the asynchronous form does not keep the subscriptions before it")
  func released() async {
    var subscription: DelegateHub.Subscription? = hub.subscribe(probes[0], to: Listener.self)
    weak var node: SubscriptionNode?
    node = subscription?.node
    var isReleased: Bool?
    await hub[Listener.self].forEach() { probe async in
      guard probe === probes[3] else { return }
      subscription?.cancel()
      subscription = nil
      #expect(hub[Listener.self].count == 3)  // the hub's own list lets go of it
      isReleased = node == nil
    }
    #expect(isReleased == true)
  }

  @Test("within interceptors, who does not conform is neither called nor counted")
  func notConforming() async {
    let hub = DelegateHub(.init(interceptors: [Hook { _, next in await next() }]))
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let others = hub[Listener.self].conforming(to: (any Error & Sendable).self)
    await others.forEach { _ async in }
    #expect(await hub.statistics().questions.asked == 0)
  }

  private struct Keeping: DelegateHub.Interceptor {
    let calls = Recorder<String>()

    func intercept(
      _ call: DelegateHub.HandlerCall,
      next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
    ) async -> DelegateHub.HandlerOutcome {
      if call.id as? Int == 1 { return .notCalled }
      let outcome = await next()
      calls.record("\(call.call) \(outcome)")
      return outcome
    }
  }

  @Test("the asynchronous form runs within interceptors, the synchronous one does not")
  func interceptors() async {
    let keeping = Keeping()
    let hub = DelegateHub(.init(interceptors: [keeping]))
    for (id, probe) in probes.enumerated() { hub.subscribe(probe, to: Listener.self, id: id) }
    var called: [String] = []
    hub[Listener.self].forEach() { called.append($0.name) }
    #expect(called == ["0", "1", "2", "3"])
    #expect(keeping.calls.history == [])
    called = []
    await #expect(throws: Refusal.self) {
      try await hub[Listener.self].forEach() { probe in
        await Task.yield()
        called.append(probe.name)
        if probe.name == "2" { throw Refusal(reason: "2") }
      }
    }
    #expect(called == ["0", "2"])
    #expect(keeping.calls.history.map { $0.prefix(14) } == ["forEach return", "forEach threw "])
    let questions = await hub.statistics().questions
    #expect([questions.answered, questions.failed, questions.asked] == [5, 1, 6])
  }

  @Test("a subscriber with an executor stops the program, which says who, where, and what to write")
  func executors() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hub = DelegateHub()
      let probe = Probe()
      hub.subscribe(
        probe, to: Listener.self, id: "audit", on: ManualExecutor(), fileID: "Shop/Cart.swift",
        line: 5)
      hub[Listener.self].forEach() { $0.log.record(1) }
    }
    #expect(said(result, "Probe (audit), subscribed at Shop/Cart.swift:5"))
    #expect(said(result, "Tell it by `notify`, or subscribe it without `on:`"))
  }

  @Test("a subscriber with an executor that would not be called does not stop the program")
  func executorsOfOthers() async {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    do {
      let dead = Probe()
      hub.subscribe(dead, to: Listener.self, on: ManualExecutor())
    }
    hub[Listener.self].forEach() { _ in Issue.record("it has died") }
    do {
      let dead = Probe()
      hub.subscribe(dead, to: Listener.self, on: ManualExecutor())
    }
    await hub[Listener.self].forEach() { _ async in Issue.record("it has died") }
    let alive = Probe()
    hub.subscribe(alive, to: Listener.self, on: ManualExecutor())
    let others = hub[Listener.self].conforming(to: (any Error & Sendable).self)
    others.forEach { _ in Issue.record("it does not conform") }
    await others.forEach { _ async in Issue.record("it does not conform") }
    withExtendedLifetime(alive) {}
  }

  @Test("those that conform to a further protocol are called, and nobody else")
  func conforming() async {
    let delegates = hub[Listener.self].conforming(to: Bystander.self)
    var called: [String] = []
    delegates.forEach { called.append($0.name) }
    await delegates.forEach(reversed: true) { probe in
      await Task.yield()
      called.append(probe.name)
    }
    #expect(called == ["0", "1", "2", "3", "3", "2", "1", "0"])
    let neither = hub[Listener.self].conforming(to: (any Error & Sendable).self)
    neither.forEach { _ in Issue.record("it does not conform") }
    #expect(await hub.statistics().questions.asked == 8)
  }

  @Test("a cancelled task's handlers see that, and all of them are called")
  func cancellation() async {
    let (hub, log) = (hub, Recorder<Bool>())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await hub[Listener.self].forEach() { _ in
        await Task.yield()
        log.record(Task.isCancelled)
      }
    }
    await task.value
    #expect(log.history == [true, true, true, true])
  }
}

import Dispatch
import Testing

@testable import Delegation

@Suite("Priority escalation", .inTurn)
struct PriorityEscalationTests {
  /// Gives way until the present task's priority is at least this one, or it is to end.
  private static func priority(atLeast priority: TaskPriority, until end: Gate) async -> Bool {
    while Task.currentPriority < priority {
      if end.arrived > 0 { return false }
      await Task.yield()
    }
    return true
  }

  /// Waits for something; after some seconds it ends those who wait for a priority in vain.
  private func ending(
    _ end: Gate, after seconds: Int = InTurn.patience, _ wait: () async -> Void
  ) async {
    let patience = Task {
      try await Task.sleep(for: .seconds(seconds))
      end.arrive()
    }
    await wait()
    patience.cancel()
  }

  /// Asks at low priority, awaits the answers at high priority, and gives who noticed.
  private func whoNoticed(
    own executor: (any TaskExecutor)? = nil,
    _ ask:
      @escaping @Sendable (
        DelegateHub, @escaping @Sendable (any Listener) async -> Bool
      ) async -> Void
  ) async -> [String] {
    let hub = DelegateHub()
    let (noticed, end) = (Recorder<String>(), Gate())
    let before = Recorder<TaskPriority>()
    let probes = Probe.many(4)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "2" ? executor : nil)
    }
    let low = Task.detached(priority: .low) {
      await ask(hub) { probe in
        before.record(Task.currentPriority)
        guard await Self.priority(atLeast: .high, until: end) else { return false }
        noticed.record(probe.name)
        return true
      }
    }
    _ = await before.history(of: 4)
    #expect(before.history == Array(repeating: .low, count: 4))
    let high = Task.detached(priority: .high) { await low.value }
    await ending(end) { await high.value }
    await hub.drain()
    return noticed.history.sorted()
  }

  private let all = ["0", "1", "2", "3"]

  @Test("whoever waits for a vote raises those who are asked")
  func vote() async {
    #expect(await whoNoticed { _ = await $0[Listener.self].vote($1) } == all)
  }

  @Test("so does whoever waits for collect")
  func collect() async {
    #expect(await whoNoticed { _ = await $0[Listener.self].collect($1) } == all)
  }

  @Test("so it is with a deadline")
  func withDeadline() async {
    let noticed = await whoNoticed {
      _ = await $0[Listener.self].vote(within: .seconds(3_600), absent: .abstains, $1)
    }
    #expect(noticed == all)
  }

  @Test("so it is with those who have an executor of their own")
  func ownExecutor() async {
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    #expect(await whoNoticed(own: own) { _ = await $0[Listener.self].vote($1) } == all)
  }

  @Test("so it is with those who begin afterwards")
  func beginningAfterwards() async {
    let hub = DelegateHub()
    let own = ManualExecutor()
    let (end, escalated) = (Gate(), Gate())
    let seen = Recorder<TaskPriority>()
    let (early, late) = (Probe("early"), Probe("late"))
    hub.subscribe(early, to: Listener.self)
    hub.subscribe(late, to: Listener.self, on: own)
    let low = Task.detached(priority: .low) {
      await hub[Listener.self].vote() { probe in
        // A task is raised before its children are: the early one may notice before the late one is raised.
        _ = await Self.priority(atLeast: .high, until: end)
        if probe.name == "late" {
          seen.record(Task.currentPriority)
        } else {
          escalated.arrive()
        }
        return true
      }
    }
    while own.pending == 0 { await Task.yield() }
    let high = Task.detached(priority: .high) { await low.value }
    await ending(end) {
      await escalated.arrivals()
      own.run()
    }
    #expect(await high.value)
    #expect(end.arrived == 0)
    #expect(seen.history == [.high])
  }

  @Test("so it is if the caller is raised while the first one runs in its place")
  func raisedInPlace() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let hub = DelegateHub()
    let begun = Gate()
    let isRaised = DispatchSemaphore(value: 0)
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let (noticed, end) = (Recorder<String>(), Gate())
    let low = Task.detached(priority: .low) {
      await hub[Listener.self].vote() { probe in
        if probe.name == "0" {
          begun.arrive()
          // Blocks the caller's thread, so that nothing can be noticed before it is raised.
          _ = isRaised.wait(timeout: .now() + Double(InTurn.patience))
        }
        if await Self.priority(atLeast: .high, until: end) { noticed.record(probe.name) }
        return true
      }
    }
    await begun.arrivals()
    low.escalatePriority(to: .high)
    isRaised.signal()
    await ending(end, after: 10) { _ = await low.value }
    #expect(noticed.history.sorted() == ["0", "1"])
    withExtendedLifetime(probes) {}
  }

  @Test("so it is if the caller is raised while it brings the first one to the hub's executor")
  func raisedOnTheWay() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let executor = FullExecutor()
    let hub = DelegateHub(on: executor)
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    // From now on nothing but the handlers runs there.
    #expect(await hub[Listener.self].vote() { _ in true })
    await hub.drain()
    await executor.rest()
    let (noticed, end, blockade) = (Recorder<String>(), Gate(), Blockade())
    executor.fill(with: blockade)
    let low = Task.detached(priority: .low) {
      await hub[Listener.self].vote() { probe in
        if await Self.priority(atLeast: .high, until: end) { noticed.record(probe.name) }
        return true
      }
    }
    await blockade.entry()
    low.escalatePriority(to: .high)
    #expect(blockade.end())
    await ending(end, after: 10) { _ = await low.value }
    #expect(noticed.history.sorted() == ["0", "1"])
    withExtendedLifetime(probes) {}
  }

  @Test("so it is if the caller was raised before it asks, and they block their thread")
  func raisedBefore() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let hub = DelegateHub()
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let (gate, seen) = (Gate(), Recorder<TaskPriority>())
    let low = Task.detached(priority: .low) {
      await gate.pass()
      return await hub[Listener.self].vote() { _ in
        // Gives no task the opportunity to be raised when it is resumed.
        let end = ContinuousClock.now + .milliseconds(500)
        while Task.currentPriority < .high, ContinuousClock.now < end { Threads.pause() }
        seen.record(Task.currentPriority)
        return true
      }
    }
    await gate.arrivals()
    low.escalatePriority(to: .high)
    gate.open()
    _ = await low.value
    #expect(seen.history == [.high, .high])
    withExtendedLifetime(probes) {}
  }
}

import Testing

@testable import Delegation

@Suite("notifyAndWait: the priority of its workers", .inTurn)
struct NotifyAndWaitPriorityTests {
  private let hub = DelegateHub()
  private let seen = Recorder<TaskPriority>()

  @Test(
    "they have the caller's, if it is higher than the default",
    arguments: [
      (TaskPriority.high, TaskPriority.high), (.medium, .medium), (.background, .medium),
    ])
  func caller(priority: TaskPriority, expected: TaskPriority) async {
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let gate = Gate()
    await Task.detached(priority: priority) { [hub, seen] in
      _ = await hub[Listener.self].notifyAndWait() { probe in
        seen.record(Task.currentPriority)
        // Each but the last needs a worker of its own.
        if probe.name == "2" { gate.open() } else { await gate.pass() }
      }
    }.value
    #expect(seen.history == [expected, expected, expected])
    withExtendedLifetime(probes) {}
  }

  @Test("on executors of their own as well")
  func elsewhere() async {
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self, on: ThreadPool(threads: 1)) }
    await Task.detached(priority: .high) { [hub, seen] in
      _ = await hub[Listener.self].notifyAndWait() { _ in seen.record(Task.currentPriority) }
    }.value
    #expect(seen.history == [.high, .high, .high])
    withExtendedLifetime(probes) {}
  }

  @Test("nobody waits for notify, so the caller's priority does not matter; nor is one kept")
  func notWaited() async {
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    await Task.detached(priority: .high) { [hub, seen] in
      _ = await hub[Listener.self].notifyAndWait() { _ in seen.record(Task.currentPriority) }
      hub[Listener.self].notify() { _ in seen.record(Task.currentPriority) }
    }.value
    await hub.drain()
    #expect(seen.history == [.high, .medium])
    withExtendedLifetime(probe) {}
  }
}

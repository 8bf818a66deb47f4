import Foundation
import Testing

@testable import Delegation

@Suite("Guarantee 12: cancellation", .inTurn)
struct Guarantee12CancellationTests {
  @Test("cancelling the caller cancels the handlers that are suspended, and their answers count")
  func suspended() async {
    let hub = DelegateHub()
    let gate = Gate()
    let cancelled = Recorder<String>()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let caller = Task {
      await hub[Listener.self].ask(combining: .all()) { probe in
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          cancelled.record(probe.name)
        }
        return Task.isCancelled
      }
    }
    await gate.arrivals(10)
    #expect(cancelled.history == [])
    caller.cancel()
    #expect(Set(await cancelled.history(of: 10)) == Set(probes.map(\.name)))
    gate.open()
    #expect(await caller.value == Array(repeating: true, count: 10))
    #expect(cancelled.history.count == 10)
  }

  @Test("a caller that is cancelled beforehand has its question asked in cancelled handlers")
  func beforehand() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let caller = Task {
      await gate.pass()
      return await hub[Listener.self].ask(combining: .all()) { probe in
        let atFirst = Task.isCancelled
        if Int(probe.name)! % 2 == 0 { await Task.yield() }
        return atFirst && Task.isCancelled
      }
    }
    caller.cancel()
    gate.open()
    #expect(await caller.value == Array(repeating: true, count: 10))
  }

  @Test("a handler that never suspends sees that its caller was cancelled", arguments: [1, 4])
  func spinning(count: Int) async {
    for _ in rounds(20) {
      let hub = DelegateHub()
      let started = DispatchSemaphore(value: 0)
      let probes = Probe.many(count)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      let caller = Task {
        await hub[Listener.self].ask(combining: .all()) { _ in
          started.signal()
          // A bound for the case that the guarantee is broken; nobody waits for it to pass.
          let bound = ContinuousClock.now + .seconds(InTurn.patience)
          while !Task.isCancelled, ContinuousClock.now < bound {}
          return Task.isCancelled
        }
      }
      // From a thread of its own, for these handlers do not give up those that they run on.
      Thread {
        started.wait()
        caller.cancel()
      }.start()
      #expect(await caller.value == Array(repeating: true, count: count))
    }
  }

  @Test(
    "one asked after the cancellation sees it, too, though nobody has come to cancel its task",
    arguments: [false, true])
  func askedLater(hasDeadline: Bool) {
    let (executor, clock) = (ManualExecutor(), ManualClock())
    let hub = DelegateHub(on: executor, clock: clock)
    let seen = Recorder<Bool>()
    let probes = Probe.many(5)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let caller = Recorder<Task<Bool, Never>>()
    caller.record(
      Task(executorPreference: executor) {
        let answer: @Sendable (any Listener) async -> Bool = { probe in
          seen.record(Task.isCancelled)
          if probe.name == "1" { caller.history[0].cancel() }
          return true
        }
        if hasDeadline {
          return await hub[Listener.self].vote(within: .seconds(3600), absent: .abstains, answer)
        }
        return await hub[Listener.self].vote(answer)
      })
    executor.run()
    #expect(seen.history == [false, false, true, true, true])
    // Whoever sleeps until the deadline ends.
    clock.advance(by: .seconds(3600))
    executor.run()
  }

  @Test("cancellation reaches the handlers of a vote that a voter awaits")
  func nested() async {
    let hub = DelegateHub()
    let gate = Gate()
    let cancelled = Recorder<String>()
    let (outer, inner) = (Probe("outer"), Probe("inner"))
    hub.subscribe(outer, to: Listener.self)
    hub.subscribe(inner, to: Bystander.self)
    let caller = Task {
      await hub[Listener.self].vote() { _ in
        await hub[Bystander.self].vote() { inner in
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            cancelled.record(inner.name)
          }
          return Task.isCancelled
        }
      }
    }
    await gate.arrivals()
    caller.cancel()
    #expect(await cancelled.history(of: 1) == ["inner"])
    gate.open()
    #expect(await caller.value)
  }

  @Test("to cancel the caller of deeply nested votes takes little of the canceller's stack")
  func deeplyNested() async {
    // In a process of its own: a stack that is used up ends the process.
    await #expect(processExitsWith: .success) {
      let hub = DelegateHub()
      let gate = Gate()
      let probes = Probe.many(2)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      @Sendable func vote(from level: Int) async -> Bool {
        await hub[Listener.self].vote() { probe in
          guard probe.name == "0" else { return true }
          if level < 1_000 { return await vote(from: level + 1) }
          await gate.pass()
          return Task.isCancelled
        }
      }
      let caller = Task { await vote(from: 1) }
      await gate.arrivals()
      await cancelOnSmallStack(caller)
      gate.open()
      _ = await caller.value
      #expect(await hub.drain().isEmpty)
      withExtendedLifetime(probes) {}
    }
  }

  @Test("nor does that of questions in turn, though each handler has an executor of its own")
  func deeplyNestedInTurn() async {
    await #expect(processExitsWith: .success) {
      let hub = DelegateHub()
      let gate = Gate()
      let probe = Probe()
      hub.subscribe(probe, to: Listener.self, on: LaneTaskExecutor(Lane("own")))
      @Sendable func ask(from level: Int) async -> Bool? {
        await hub[Listener.self].askInTurn() { _ -> Bool? in
          if level < 2_000 { return await ask(from: level + 1) }
          gate.arrive()
          let bound = ContinuousClock.now + .seconds(InTurn.patience)
          while !Task.isCancelled, ContinuousClock.now < bound { await Task.yield() }
          return Task.isCancelled
        }
      }
      let caller = Task { await ask(from: 1) }
      await gate.arrivals()
      await cancelOnSmallStack(caller)
      #expect(await caller.value == true)
      #expect(await hub.drain().isEmpty)
      withExtendedLifetime(probe) {}
    }
  }

  @Test("of a question in turn, a handler with an executor is cancelled when cancel() has returned")
  func inTurn() {
    let (stage, own) = (Stage(), ManualExecutor())
    let (gate, cancelled) = (Gate(), Recorder<String>())
    let probe = Probe("own")
    stage.hub.subscribe(probe, to: Listener.self, on: own)
    let call = stage.start { hub in
      await hub[Listener.self].askInTurn() { probe in
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          cancelled.record(probe.name)
        }
        return Task.isCancelled
      }
    }
    own.run()
    #expect(gate.arrived == 1)
    call.cancel()
    #expect(cancelled.history == ["own"])
    gate.open()
    own.run()
    stage.run()
    #expect(call.result == true)
    withExtendedLifetime(probe) {}
  }

  @Test("a caller does not cancel the handlers that work for another")
  func others() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let callers = (0..<2).map { _ in
      Task {
        await hub[Listener.self].ask(combining: .all()) { _ in
          await gate.pass()
          return Task.isCancelled
        }
      }
    }
    await gate.arrivals(6)
    callers[0].cancel()
    gate.open()
    #expect(await callers[0].value == [true, true, true])
    #expect(await callers[1].value == [false, false, false])
  }

  @Test("a notification is nobody's work: the poster's cancellation does not reach its handlers")
  func notification() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let poster = Task {
      await gate.pass()
      #expect(Task.isCancelled)
      hub[Listener.self].notify() { $0.log.record(Task.isCancelled ? -1 : 1) }
      hub[Listener.self].notify() { probe in
        await Task.yield()
        probe.log.record(Task.isCancelled ? -2 : 2)
      }
    }
    poster.cancel()
    gate.open()
    #expect(await probe.log.history(of: 2) == [1, 2])
  }

  @Test("what one voter was cancelled for does not cancel the next question")
  func nextQuestion() async {
    let hub = DelegateHub()
    let probes = Probe.many(5)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    for _ in rounds(50) {
      _ = await hub[Listener.self].vote() { $0.name != "2" }
      let seen = await hub[Listener.self].ask(combining: .all()) { _ in Task.isCancelled }
      #expect(seen == Array(repeating: false, count: 5))
    }
  }
}

/// Cancels a task on a thread that has half a megabyte of stack.
private func cancelOnSmallStack<Success: Sendable>(_ caller: Task<Success, Never>) async {
  let canceller = Thread { caller.cancel() }
  canceller.stackSize = 512 << 10
  canceller.start()
  while !caller.isCancelled { await Task.yield() }
}

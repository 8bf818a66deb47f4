import Delegation
import Foundation
import Testing

@Suite("Guarantee 12: cancellation", .inTurn)
struct Guarantee12Tests {
  /// For what blocks: it is taken from no other test.
  private static let pool = ThreadPool(threads: 16)

  @Test("it reaches the handlers of the caller's question, and no others'", arguments: Reach.asking)
  func suspended(reach: Reach) async {
    let (hub, gate) = (DelegateHub(), Gate())
    let (cancelled, seen) = (Recorder<String>(), Recorder<Bool>())
    hub.cast(5)
    // One that is asked in turn is alone.
    let count = reach == .askInTurn || reach == .pass ? 1 : 5
    let other = Task {
      await hub.listeners.ask(combining: .all()) { _ in
        await gate.pass()
        return Task.isCancelled
      }
    }
    let caller = Task {
      await reach.call(hub) { probe in
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          cancelled.record(probe.name)
        }
        seen.record(Task.isCancelled)
      }
    }
    await gate.arrivals(5 + count)
    #expect(cancelled.history == [])
    caller.cancel()
    #expect(Set(await cancelled.history(of: count)).count == count)
    gate.open()
    await caller.value
    // It still asks everybody.
    #expect(seen.history == Array(repeating: true, count: 5))
    #expect(await other.value == Array(repeating: false, count: 5))
  }

  @Test("one cancelled beforehand is answered by cancelled handlers", arguments: Reach.asking)
  func beforehand(reach: Reach) async {
    let (hub, gate, seen) = (DelegateHub(), Gate(), Recorder<Bool>())
    hub.cast(10)
    let caller = Task {
      await gate.pass()
      await reach.call(hub) { probe in
        seen.record(Task.isCancelled)
        if Int(probe.name)! % 2 == 0 { await Task.yield() }
        seen.record(Task.isCancelled)
      }
    }
    caller.cancel()
    gate.open()
    await caller.value
    #expect(seen.history == Array(repeating: true, count: 20))
    // What one question was cancelled for does not cancel the next one.
    #expect(await hub.listeners.vote(by: .nobody) { _ in Task.isCancelled })
  }

  @Test("a handler that never suspends sees it, on the only thread as well", arguments: [1, 4])
  func spinning(count: Int) async {
    for isAlone in [false, true] {
      let hub = DelegateHub(on: isAlone ? ThreadPool(threads: 1) : Self.pool)
      let started = DispatchSemaphore(value: 0)
      hub.cast(count)
      let caller = Task(executorPreference: Self.pool) {
        await hub.listeners.vote { _ in
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
      #expect(await caller.value)
    }
  }

  @Test("to cancel deeply nested questions takes little stack", arguments: [false, true])
  func deeplyNested(isInTurn: Bool) async {
    // In a process of its own: a stack that is used up ends the process.
    await #expect(processExitsWith: .success) { [isInTurn] in
      let (hub, gate) = (DelegateHub(), Gate())
      hub.cast(isInTurn ? 1 : 2, on: isInTurn ? Lane("own") : nil)
      @Sendable func handle(_ probe: any Listener, at level: Int) async -> Bool {
        guard probe.name == "0" else { return true }
        if level < 1_500 { return await ask(from: level + 1) }
        gate.arrive()
        let bound = ContinuousClock.now + .seconds(InTurn.patience)
        while !Task.isCancelled, ContinuousClock.now < bound { await Task.yield() }
        return Task.isCancelled
      }
      @Sendable func ask(from level: Int) async -> Bool {
        isInTurn
          ? await hub.listeners.askInTurn { await handle($0, at: level) } ?? false
          : await hub.listeners.vote { await handle($0, at: level) }
      }
      let caller = Task { await ask(from: 1) }
      await gate.arrivals()
      // On a thread that has half a megabyte of stack.
      let canceller = Thread { caller.cancel() }
      canceller.stackSize = 512 << 10
      canceller.start()
      #expect(await caller.value)
      #expect(await hub.drain().isEmpty)
    }
  }

  /// What has those who are asked cancelled.
  enum Cause: CaseIterable {
    case caller, decision, deadline
  }

  @Test(
    "if one cancellation handler blocks the others are cancelled as well, if need be after it",
    arguments: Cause.allCases)
  func others(cause: Cause) async {
    let clock = ManualClock()
    let (hub, gate, deciding, blockade) = (
      DelegateHub(clock, on: Self.pool), Gate(), Gate(), Blockade()
    )
    let cancelled = Recorder<String>()
    hub.cast(5)
    let ask: @Sendable (any Listener) async -> Bool = { probe in
      if probe.name == "4", cause == .decision {
        await deciding.pass()
        return false
      }
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        if probe.name == "0" { blockade.enter() } else { cancelled.record(probe.name) }
      }
      return true
    }
    let vote = Task {
      cause == .deadline
        ? await hub.listeners.vote(within: .seconds(1), absent: .abstains, ask)
        : await hub.listeners.vote(ask)
    }
    await gate.arrivals(cause == .decision ? 4 : 5)
    switch cause {
    case .caller: Thread { vote.cancel() }.start()
    case .decision:
      await deciding.arrivals()
      deciding.open()
    case .deadline:
      await clock.waitForSleepers(1)
      clock.advance(by: .seconds(1))
    }
    await blockade.entry()
    // Who cancels the caller runs the handlers itself, and the caller waits for all answers.
    if cause != .caller { #expect(await vote.value == (cause != .decision)) }
    #expect(blockade.end(), "the vote waited for the cancellation handler")
    #expect(
      await cancelled.history(of: cause == .decision ? 3 : 4).count == (cause == .decision ? 3 : 4))
    gate.open()
    #expect(await vote.value == (cause != .decision))
    await hub.drain()
  }
}

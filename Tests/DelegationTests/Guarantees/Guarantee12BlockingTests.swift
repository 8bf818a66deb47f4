import Foundation
import Testing

@testable import Delegation

@Suite("Guarantee 12: cancellation handlers that block", .inTurn)
struct Guarantee12BlockingTests {
  /// For handlers that block: what they take is not taken from other tests.
  private static let pool = ThreadPool(threads: 16)

  @Test(
    "one breaks no deadline, though the caller is cancelled first", arguments: [1, 3])
  func deadline(count: Int) async {
    let clock = ManualClock()
    let hub = DelegateHub { configuration in
      configuration.clock = clock
      configuration.executor = Self.pool
    }
    let (gate, blockade) = (Gate(), Blockade())
    let probes = Probe.many(count)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let vote = Task {
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { probe in
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          if probe.name == "0" { blockade.enter() }
        }
        return true
      }
    }
    await gate.arrivals(count)
    _ = await clock.alarms()
    // From a thread of its own, for it may be blocked.
    Thread { vote.cancel() }.start()
    await blockade.entry()
    clock.advance(by: .seconds(1))
    #expect(await vote.value == false)
    #expect(blockade.end(), "the vote waited for the cancellation handler")
    gate.open()
    await hub.drain()
    withExtendedLifetime(probes) {}
  }

  @Test("nor does it by the real clock, and whoever cancels goes on at once")
  func realClock() async {
    let hub = DelegateHub(on: Self.pool)
    let (gate, blockade) = (Gate(), Blockade())
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let vote = Task {
      await hub[Listener.self].vote(within: .milliseconds(200), absent: .counts(as: false)) { _ in
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          blockade.enter()
        }
        return true
      }
    }
    await gate.arrivals()
    vote.cancel()
    #expect(await vote.value == false)
    #expect(blockade.end(), "the vote waited for the cancellation handler")
    gate.open()
    await hub.drain()
    withExtendedLifetime(probe) {}
  }

  /// What has those who are asked cancelled.
  enum Cause: CaseIterable {
    case caller, decision, deadline
  }

  @Test("the others are cancelled as well, if need be after it", arguments: Cause.allCases)
  func others(cause: Cause) async {
    let clock = ManualClock()
    let hub = DelegateHub { configuration in
      configuration.clock = clock
      configuration.executor = Self.pool
    }
    let (gate, deciding, blockade) = (Gate(), Gate(), Blockade())
    let cancelled = Recorder<String>()
    let probes = Probe.many(5)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
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
      if cause == .deadline {
        await hub[Listener.self].vote(within: .seconds(1), absent: .abstains, ask)
      } else {
        await hub[Listener.self].vote(ask)
      }
    }
    await gate.arrivals(cause == .decision ? 4 : 5)
    switch cause {
    case .caller: Thread { vote.cancel() }.start()
    case .decision:
      await deciding.arrivals()
      deciding.open()
    case .deadline:
      _ = await clock.alarms()
      clock.advance(by: .seconds(1))
    }
    await blockade.entry()
    // Whoever cancels the caller runs the handlers itself, and the caller waits for all answers.
    if cause != .caller { #expect(await vote.value == (cause != .decision)) }
    #expect(blockade.end(), "the vote waited for the cancellation handler")
    let expected = cause == .decision ? 3 : 4
    #expect(await cancelled.history(of: expected).count == expected)
    gate.open()
    #expect(await vote.value == (cause != .decision))
    await hub.drain()
    withExtendedLifetime(probes) {}
  }

  @Test("a handler that never suspends sees the cancellation, though it keeps its only thread busy")
  func spinning() async {
    let hub = DelegateHub(on: ThreadPool(threads: 1))
    let spinning = DispatchSemaphore(value: 0)
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let caller = Task {
      await hub[Listener.self].ask(combining: .all()) { _ in
        spinning.signal()
        // A bound for the case that the guarantee is broken; nobody waits for it to pass.
        let bound = ContinuousClock.now + .seconds(20)
        while !Task.isCancelled, ContinuousClock.now < bound {}
        return Task.isCancelled
      }
    }
    Thread {
      spinning.wait()
      caller.cancel()
    }.start()
    #expect(await caller.value == [true, true])
    withExtendedLifetime(probes) {}
  }
}

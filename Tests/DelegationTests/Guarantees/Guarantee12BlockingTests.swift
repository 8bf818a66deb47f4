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
      await hub.vote(Listener.self, within: .seconds(1), absent: .counts(as: false)) { probe in
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
      await hub.vote(Listener.self, within: .milliseconds(200), absent: .counts(as: false)) { _ in
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
        await hub.vote(Listener.self, within: .seconds(1), absent: .abstains, ask)
      } else {
        await hub.vote(Listener.self, ask)
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
      await hub.ask(Listener.self, combining: .all()) { _ in
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

@Suite("Guarantee 12: a handler that cancels its own task", .inTurn)
struct Guarantee12OwnTaskTests {
  private static func cancelOwnTask() {
    withUnsafeCurrentTask { $0?.cancel() }
  }

  @Test(
    "cancels neither those who are asked after it, nor the caller, with a deadline and without",
    arguments: [false, true], [false, true])
  func question(hasDeadline: Bool, suspends: Bool) async {
    let hub = DelegateHub()
    let probes = Probe.many(8)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let answer: @Sendable (any Listener) async -> Bool = { probe in
      let isCancelled = Task.isCancelled
      if probe.name == "1" || probe.name == "4" { Self.cancelOwnTask() }
      if suspends { await Task.yield() }
      return isCancelled
    }
    let isCancelled = await Task {
      let answers =
        if hasDeadline {
          await hub.ask(
            Listener.self, combining: .all(), within: .seconds(3600), absent: .abstains, answer)
        } else {
          await hub.ask(Listener.self, combining: .all(), answer)
        }
      #expect(answers == Array(repeating: false, count: 8))
      return Task.isCancelled
    }.value
    #expect(!isCancelled)
    await hub.drain()
    withExtendedLifetime(probes) {}
  }

  @Test("with one executor for all, it cancels nobody either")
  func onOneExecutor() {
    let stage = Stage()
    let probes = stage.cast(8)
    let answers = stage.perform { hub in
      await hub.ask(Listener.self, combining: .all()) { probe in
        defer { if probe.name != "7" { Self.cancelOwnTask() } }
        return Task.isCancelled
      }
    }
    #expect(answers == Array(repeating: false, count: 8))
    withExtendedLifetime(probes) {}
  }

  @Test("cancels no handler of a notification, of the same subscriber or another")
  func notifications() {
    let stage = Stage()
    let probes = stage.cast(4)
    for number in 0..<4 {
      stage.hub.notify(Listener.self) { probe in
        probe.log.record(Task.isCancelled ? -1 : number)
        if number % 2 == 0 { Self.cancelOwnTask() }
      }
      stage.hub.notify(Listener.self) { probe in
        let isCancelled = Task.isCancelled
        if probe.name == "2" { Self.cancelOwnTask() }
        await Task.yield()
        probe.log.record(isCancelled ? -2 : 10 + number)
      }
    }
    stage.run()
    let expected = (0..<4).flatMap { [$0, 10 + $0] }
    #expect(probes.map(\.log.history) == Array(repeating: expected, count: 4))
    #expect(stage.accounts == .init(handled: 32))
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("nor one of those that share its executor")
  func notificationsOnOneExecutor() {
    let (own, executor) = (ManualExecutor(), ManualExecutor())
    let hub = DelegateHub(on: own)
    let probes = Probe.many(5)
    for probe in probes { hub.subscribe(probe, to: Listener.self, on: executor) }
    hub.notify(Listener.self) { probe in
      probe.log.record(Task.isCancelled ? -1 : 1)
      Self.cancelOwnTask()
    }
    own.run()
    executor.run()
    #expect(probes.map(\.log.history) == Array(repeating: [1], count: 5))
    own.run()
  }

  @Test(
    "of one subscriber alone, asked without a deadline, it is the caller's task as well",
    arguments: Reach.asking, [1, 2])
  func alone(reach: Reach, count: Int) async {
    let hub = DelegateHub()
    let probes = Probe.many(count)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let isCancelled = await Task {
      await reach(hub, suspending: false) { _ in Self.cancelOwnTask() }
      return Task.isCancelled
    }.value
    let isCallers =
      switch reach {
      case .vote, .ask, .collect: count == 1
      case .askInTurn, .pass: true
      default: false
      }
    #expect(isCancelled == isCallers)
    withExtendedLifetime(probes) {}
  }

  @Test("of a question in turn it is the caller's task, and all are asked all the same")
  func inTurn() {
    let stage = Stage()
    let probes = stage.cast(4)
    let seen = stage.perform { hub in
      let seen = await hub.pass([Bool](), through: Listener.self) { probe, seen in
        let isCancelled = Task.isCancelled
        if probe.name == "1" { Self.cancelOwnTask() }
        return seen + [isCancelled]
      }
      return (seen ?? []) + [Task.isCancelled]
    }
    #expect(seen == [false, false, true, true, true])
    withExtendedLifetime(probes) {}
  }
}

import Foundation
import Testing

@testable import Delegation

@Suite("Executors that block whoever brings them a job", .inTurn)
struct FullExecutorTests {
  /// For threads that may be blocked: what they take is not taken from other tests.
  private static let pool = ThreadPool(threads: 8)

  @Test("The hub's executor is full: the poster is stuck, and keeps nothing that others post")
  func poster() async {
    let executor = FullExecutor()
    let hub = DelegateHub(on: executor)
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let (blockade, hasPosted) = (Blockade(), Gate())
    executor.fill(with: blockade)
    Thread {
      hub[Listener.self].notify() { _ in }
      hasPosted.arrive()
    }.start()
    await blockade.entry()
    let lifetimes = Lifetimes()
    for number in 0..<100 {
      let cargo = lifetimes.make()
      hub[Listener.self].notify() { probe in
        withExtendedLifetime(cargo) {}
        probe.log.record(number)
      }
    }
    #expect(await hub.drain(within: .seconds(InTurn.patience)).isEmpty)
    #expect(probe.log.history == Array(0..<100))
    #expect(lifetimes.alive == 0, "what was handled is kept")
    #expect(blockade.end())
    await hasPosted.arrivals()
  }

  /// What a caller waits for.
  enum Wait: CaseIterable {
    case notifyAndWait, drain

    func callAsFunction(_ hub: DelegateHub, until gate: Gate) async {
      switch self {
      case .notifyAndWait: await hub[Listener.self].notifyAndWait() { _ in await gate.pass() }
      case .drain: await hub.drain()
      }
    }
  }

  @Test(
    "The caller's executor blocks whoever lets the caller go on: nobody else waits for that",
    arguments: Wait.allCases, [true, false])
  func caller(wait: Wait, isFull: Bool) async {
    let hub = DelegateHub { configuration in
      configuration.executor = Self.pool
      // With a test's clock all of the hub's own work is there as well.
      configuration.clock = ManualClock()
    }
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let (gate, blockade, drained) = (Gate(), Blockade(), Gate())
    if wait != .notifyAndWait {
      hub[Listener.self].notify() { _ in await gate.pass() }
      await gate.arrivals()
    }
    // The one is full when the caller is to go on; the other runs at once what it does then.
    let full = FullExecutor()
    let executor: any TaskExecutor = isFull ? full : PromptExecutor()
    let call = Task(executorPreference: executor) {
      await wait(hub, until: gate)
      if !isFull { blockade.enter() }
    }
    await gate.arrivals()
    await full.rest()
    full.fill(with: blockade)
    let others = FullExecutor()
    for _ in 0..<4 {
      Task(executorPreference: others) {
        await hub.drain()
        drained.arrive()
      }
    }
    await others.rest()
    hub[Listener.self].notify() { $0.log.record(1) }
    gate.open()
    #expect(await probe.log.history(of: 1) == [1])
    await blockade.entry()
    await drained.arrivals(4)
    #expect(blockade.end(), "the subscriber, or another caller, waited for the caller's executor")
    await call.value
    withExtendedLifetime(probe) {}
  }
}

import Dispatch
import Testing

@testable import Delegation

@Suite("Executors: many subscribers on one", .inTurn)
struct ExecutorSharingTests {
  private let stage = Stage()
  private let shared = ManualExecutor()

  /// Subscribes that many probes on the shared executor.
  private func cast(_ count: Int) -> [Probe] {
    let probes = Probe.many(count)
    for probe in probes { stage.hub.subscribe(probe, to: Listener.self, on: shared) }
    return probes
  }

  /// Lets everything go as far as it can, there and elsewhere.
  private func run() {
    repeat {
      stage.run()
      shared.run()
    } while stage.executor.pending > 0
  }

  @Test("those who share an executor share tasks, of which none is without end")
  func tasks() {
    let probes = cast(150)
    for number in 0..<10 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    stage.run()
    #expect(shared.pending == 1)
    // The first task starts another one, and neither serves all.
    #expect(shared.run(atMost: 2) == 2)
    #expect(probes.count { !$0.log.history.isEmpty } == 2 * Delegation.Lane.servedAtOnce)
    run()
    for probe in probes { #expect(probe.log.history == Array(0..<10)) }
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("as long as an executor stands still, further notifications start no further tasks on it")
  func standingStill() {
    let probes = cast(10)
    for number in 0..<100 {
      stage.hub[Listener.self].notify() { $0.log.record(number) }
      stage.run()
    }
    #expect(shared.pending == 1)
    run()
    for probe in probes { #expect(probe.log.history == Array(0..<100)) }
  }

  @Test("each executor runs the handlers of its own subscribers, however many there are")
  func manyExecutors() {
    let executors = (0..<40).map { _ in ManualExecutor() }
    let probes = Probe.many(120)
    for (number, probe) in probes.enumerated() {
      stage.hub.subscribe(probe, to: Listener.self, on: executors[number % 40])
    }
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()
    for (index, executor) in executors.enumerated() {
      executor.run()
      for (number, probe) in probes.enumerated() {
        #expect(probe.log.history == (number % 40 <= index ? [1] : []))
      }
    }
  }

  @Test("they do not wait for those who are served in place")
  func beforeOthers() {
    let probes = Probe.many(2)
    let first = DispatchSemaphore(value: 0)
    let outcome = Recorder<DispatchTimeoutResult>()
    stage.hub.subscribe(probes[0], to: Listener.self, on: DispatchQueue(label: "own"))
    stage.hub.subscribe(probes[1], to: Listener.self)
    stage.hub[Listener.self].notify() { probe in
      if probe.name == "0" {
        first.signal()
      } else {
        outcome.record(first.wait(timeout: .now() + .seconds(InTurn.patience)))
      }
    }
    run()
    #expect(outcome.history == [.success])
  }

  @Test("one that suspends holds up none of the others", arguments: [0, 30, 99])
  func suspended(place: Int) {
    let gate = Gate()
    let probes = cast(100)
    stage.hub[Listener.self].notify() { if $0.name == "\(place)" { await gate.pass() } }
    for number in 0..<10 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    run()
    for (number, probe) in probes.enumerated() {
      #expect(probe.log.history == (number == place ? [] : Array(0..<10)))
    }
    gate.open()
    run()
    #expect(probes[place].log.history == Array(0..<10))
  }

  @Test("when all but the last one suspend, that one is served")
  func allButOne() {
    let gate = Gate()
    let probes = cast(100)
    stage.hub[Listener.self].notify() { probe in
      if probe.name != "99" { await gate.pass() }
      probe.log.record(1)
    }
    run()
    #expect(gate.arrived == 99)
    #expect(probes.filter { $0.log.history != [] }.map(\.name) == ["99"])
    #expect(probes[99].log.history == [1])
    gate.open()
    run()
    for probe in probes { #expect(probe.log.history == [1]) }
  }

  @Test(
    "one that blocks its thread takes no more if the executor has others", arguments: [0, 5, 9])
  func blocking(place: Int) async {
    let hub = DelegateHub()
    let pool = ThreadPool(threads: 2)
    let semaphore = DispatchSemaphore(value: 0)
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self, on: pool) }
    hub[Listener.self].notify() { probe in
      guard probe.name == "\(place)" else { return }
      gate.arrive()
      semaphore.wait()
    }
    await gate.arrivals()
    for number in 0..<50 { hub[Listener.self].notify() { $0.log.record(number) } }
    for (number, probe) in probes.enumerated() where number != place {
      #expect(await probe.log.history(of: 50) == Array(0..<50))
    }
    #expect(probes[place].log.history == [])
    semaphore.signal()
    #expect(await hub.drain().isEmpty)
    #expect(probes[place].log.history == Array(0..<50))
  }

  @Test("one that is removed while the executor stands still is not called")
  func removed() {
    let probes = Probe.many(3)
    let subscriptions = probes.map { stage.hub.subscribe($0, to: Listener.self, on: shared) }
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()
    #expect(shared.pending == 1)
    subscriptions[1].cancel()
    let end = stage.start { _ in await subscriptions[1].cancelAndWait() }
    #expect(end.result != nil)
    run()
    #expect(probes.map(\.log.history) == [[1], [], [1]])
    #expect(
      stage.accounts.map { "\($0)" }
        == "handled 2, failed 0, expired 0, dropped 0, cancelled 1, waiting 0, handling 0")
  }

  @Test("drain waits for all of them, and from within one of them not for that one")
  func drain() {
    let probes = cast(5)
    stage.hub[Listener.self].notify() { [hub = stage.hub] probe in
      if probe.name == "2" { await hub.drain() }
      probe.log.record(1)
    }
    let drain = stage.start { await $0.drain().isEmpty }
    stage.run()
    #expect(drain.result == nil)
    run()
    #expect(drain.result == true)
    for probe in probes { #expect(probe.log.history == [1]) }
  }
}

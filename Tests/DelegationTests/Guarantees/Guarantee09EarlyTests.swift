import Testing

@testable import Delegation

@Suite("Guarantee 9: early", .inTurn)
struct Guarantee09EarlyTests {
  @Test("a veto returns while the others hang", arguments: [0, 5, 9])
  func veto(place: Int) async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let outcome = await hub[Listener.self].vote() { probe in
      if probe.name == "\(place)" { return false }
      await gate.pass()
      return true
    }
    #expect(!outcome)
    gate.open()
    #expect(await hub.drain().isEmpty)
  }

  @Test("a consent returns while the others hang")
  func consent() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let outcome = await hub[Listener.self].vote(by: .anyone) { probe in
      if probe.name == "9" { return true }
      await gate.pass()
      return false
    }
    #expect(outcome)
    gate.open()
    #expect(await hub.drain().isEmpty)
  }

  @Test("the first answer returns while the others hang")
  func first() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let outcome = await hub[Listener.self].ask(combining: .first()) { probe in
      if probe.name != "5" { await gate.pass() }
      return probe.name
    }
    #expect(outcome == "5")
    gate.open()
    #expect(await hub.drain().isEmpty)
  }

  @Test("those that have not begun are not called")
  func unbegun() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let asked = Recorder<String>()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let vote = executor.start {
      let outcome = await hub[Listener.self].vote() { probe in
        asked.record(probe.name)
        return probe.name != "3"
      }
      #expect(!outcome)
    }
    #expect(vote.isOver)
    #expect(asked.history == ["0", "1", "2", "3"])
  }

  @Test("those that are running are cancelled when the outcome is fixed, and not waited for")
  func cancelled() async {
    let hub = DelegateHub()
    let gate = Gate()
    let cancelled = Recorder<String>()
    let ended = Recorder<Bool>()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let outcome = await hub[Listener.self].vote() { probe in
      if probe.name == "9" {
        await gate.arrivals(9)
        #expect(!Task.isCancelled)
        return false
      }
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        cancelled.record(probe.name)
      }
      ended.record(Task.isCancelled)
      return true
    }
    #expect(!outcome)
    #expect(ended.history == [])
    let expected = Set((0..<9).map(String.init))
    #expect(Set(await cancelled.history(of: 9)) == expected)
    gate.open()
    #expect(await hub.drain().isEmpty)
    #expect(ended.history == Array(repeating: true, count: 9))
    #expect(cancelled.history.count == 9)
  }

  @Test(
    "a cancellation handler that blocks does not hold up the decision, were there but one thread")
  func blockingCancellationHandler() async {
    let pool = ThreadPool(threads: 1)
    let hub = DelegateHub(on: pool)
    let (gate, blockade) = (Gate(), Blockade())
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    // The caller goes on where the handlers run.
    let vote = Task(executorPreference: pool) {
      await hub[Listener.self].vote() { probe in
        if probe.name == "1" {
          await gate.arrivals()
          return false
        }
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          blockade.enter()
        }
        return true
      }
    }
    #expect(await vote.value == false)
    #expect(blockade.end(), "the vote waited for the cancellation handler")
    gate.open()
    #expect(await hub.drain().isEmpty)
    withExtendedLifetime(probes) {}
  }

  @Test("drain waits for those that were left running")
  func drained() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gate = Gate()
    let events = Recorder<String>()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    _ = executor.start {
      _ = await hub[Listener.self].vote() { probe in
        if probe.name == "2" { return false }
        await gate.pass()
        events.record("ended")
        return true
      }
      events.record("decided")
    }
    let drain = executor.start {
      #expect(await hub.drain().isEmpty)
      events.record("drained")
    }
    #expect(!drain.isOver)
    #expect(events.history == ["decided"])
    gate.open()
    executor.run()
    #expect(events.history == ["decided", "ended", "ended", "drained"])
  }

  @Test("a combiner that decides before it has heard anybody lets nobody be asked")
  func decidedByCount() async {
    struct Threshold: Combiner {
      mutating func begin(asking count: Int) -> Int? { count > 2 ? count : nil }
      mutating func receive(_ response: Int, from position: Int) -> Int? { nil }
      mutating func finish() -> Int { 0 }
    }
    let hub = DelegateHub()
    let probes = Probe.many(3)
    let ask = {
      await hub[Listener.self].ask(combining: Threshold()) { probe in
        probe.log.record(1)
        return 1
      }
    }
    #expect(await ask() == 0)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    #expect(await ask() == 3)
    #expect(probes.map(\.log.history) == [[], [], []])
    hub.unsubscribe(probes[0])
    #expect(await ask() == 0)
    #expect(probes.map(\.log.history) == [[], [1], [1]])
  }

  @Test("a combiner hears each once, one at a time, and after its decision nothing")
  func combinerCalls() async throws {
    for _ in rounds(30) {
      let hub = DelegateHub()
      let gate = Gate()
      let calls = Recorder<String>()
      let probes = Probe.many(8)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      let outcome = await hub[Listener.self].ask(combining: Enough(count: 5, calls: calls)
      ) { probe in
        if Int(probe.name)! % 2 == 0 { await Task.yield() }
        gate.arrive()
        if probe.name == "7" { await gate.arrivals(8) }
        return Int(probe.name)!
      }
      // One that had been claimed and had not begun at the decision is not asked, and does not arrive.
      for _ in 0..<8 { gate.arrive() }
      await hub.drain()
      let history = calls.history
      #expect(history.first == "begin 8")
      try #require(history.count == 11)
      let received = stride(from: 1, to: 11, by: 2).map { history[$0] }
      #expect(Set(received).count == 5)
      for index in stride(from: 1, to: 11, by: 2) {
        #expect(history[index + 1] == "end of \(history[index])")
      }
      #expect(received == outcome.map { "receive \($0)" })
    }
  }

  @Test("a combiner that never decides is asked to finish when all have answered")
  func finish() async {
    let hub = DelegateHub()
    let calls = Recorder<String>()
    let probe = Probe("0")
    hub.subscribe(probe, to: Listener.self)
    let outcome = await hub[Listener.self].ask(combining: Enough(count: 5, calls: calls)) { _ in 0 }
    #expect(outcome == [0])
    #expect(calls.history == ["begin 1", "receive 0", "end of receive 0", "finish"])
  }
}

/// Decides when it has heard that many, and keeps a history of its calls.
private struct Enough: Combiner {
  let count: Int
  let calls: Recorder<String>
  private var received: [Int] = []

  init(count: Int, calls: Recorder<String>) {
    self.count = count
    self.calls = calls
  }

  mutating func begin(asking count: Int) -> [Int]? {
    calls.record("begin \(count)")
    return nil
  }

  mutating func receive(_ response: Int, from position: Int) -> [Int]? {
    calls.record("receive \(position)")
    defer { calls.record("end of receive \(position)") }
    received.append(response)
    return received.count == count ? received : nil
  }

  mutating func receiveNothing(from position: Int) -> [Int]? {
    calls.record("miss \(position)")
    return nil
  }

  mutating func finish() -> [Int] {
    calls.record("finish")
    return received
  }
}

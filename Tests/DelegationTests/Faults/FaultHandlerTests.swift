import Dispatch
import Testing

@testable import Delegation

/// The rows of the documentation's table of faults, by their names there.
@Suite("Faults: handlers that do not return as they should", .inTurn)
struct FaultHandlerTests {
  @Test("A handler throws")
  func handlerThrows() async {
    let reported = Recorder<String>()
    let hub = DelegateHub { configuration in
      configuration.on(.failed) { reported.record("\($0.call) \($0.site): \($0.reason)") }
    }
    let probes = Probe.many(3)
    for (line, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, fileID: "site", line: UInt(line))
    }
    hub[Listener.self].notify() { if $0.name == "1" { throw Refusal() } }
    hub[Listener.self].notify() { $0.log.record(2) }
    await hub.drain()
    #expect(probes.map(\.log.history) == [[2], [2], [2]])
    #expect(reported.history == ["notify site:1: "])
    #expect(await hub.accounts() == .init(handled: 5, failed: 1))

    let question: @Sendable (any Listener) throws(Refusal) -> Bool = { probe throws(Refusal) in
      if probe.name == "1" { throw Refusal(reason: "asked") }
      return true
    }
    await #expect(throws: Refusal(reason: "asked")) {
      try await hub[Listener.self].vote() { probe throws(Refusal) in try question(probe) }
    }
    let strict = await hub[Listener.self].vote(absent: .counts(as: false)) { try question($0) }
    let lenient = await hub[Listener.self].vote(absent: .abstains) { try question($0) }
    #expect((strict, lenient) == (false, true))
    let replies = await hub[Listener.self].collect() { try question($0) }
    let answered = replies.map { (try? $0.result.get()) ?? false }
    #expect(answered == [true, false, true])
    // A question's failure is its caller's, unless `absent:` has swallowed it: then it is reported.
    await hub.drain()
    #expect(reported.history.dropFirst() == ["vote site:1: asked", "vote site:1: asked"])
    let questions = await hub.statistics().protocols.first?.subscribers.map(\.questions.failed)
    #expect(questions == [0, 4, 0])
    #expect(await hub.accounts() == .init(handled: 5, failed: 1))
  }

  @Test("A handler hangs for ever")
  func handlerHangs() async throws {
    let clock = ManualClock()
    let slow = Recorder<String>()
    let hub = DelegateHub { configuration in
      configuration.clock = clock
      configuration.slowAfter = .seconds(1)
      configuration.on(.slow) { slow.record($0.site) }
    }
    let gate = Gate()
    let (hung, other) = (Probe("hung"), Probe("other"))
    let subscription = hub.subscribe(hung, to: Listener.self, fileID: "hung", line: 1)
    hub.subscribe(other, to: Listener.self)
    hub[Listener.self].notify() { if $0.name == "hung" { await gate.pass() } }
    for number in 0..<100 { hub[Listener.self].notify() { $0.log.record(number) } }
    #expect(await other.log.history(of: 100) == Array(0..<100))
    await gate.arrivals()
    #expect(await passingTime(of: clock) { await slow.history(of: 1) } == ["hung:1"])

    // A question with a deadline: it hangs there as well, and is absent.
    let answers = Task {
      await hub[Listener.self].ask(combining: .all(), within: .seconds(5), absent: .counts(as: "late")
      ) { probe in
        if probe.name == "hung" { await gate.pass() }
        return probe.name
      }
    }
    await gate.arrivals(2)
    // An answer after the deadline would be late.
    while await hub.statistics().questions.answered < 1 { await Task.yield() }
    #expect(await passingTime(of: clock) { await answers.value } == ["late", "other"])

    let left = await passingTime(of: clock) { await hub.drain(within: .seconds(5)) }
    let leftover = try #require(left.subscribers.first)
    #expect(leftover.site == "hung:1")
    #expect(leftover.running == 2)
    #expect(leftover.waiting == 100)

    subscription.cancel()
    // The last handler of the others may be about to return.
    while await hub.accounts().handling > 1 { await Task.yield() }
    #expect(await hub.accounts() == .init(handled: 101, cancelled: 100, handling: 1))
    gate.open()
    await hub.drain()
    #expect(hung.log.history == [])
    #expect(await hub.accounts() == .init(handled: 102, cancelled: 100))
  }

  /// Lets time pass until a call has returned.
  ///
  /// Not until nobody sleeps: the watch for slow handlers sleeps as well, and the call may not have begun to.
  private func passingTime<Result: Sendable>(
    of clock: ManualClock, _ call: @Sendable () async -> Result
  ) async -> Result {
    let time = Task {
      while !Task.isCancelled {
        clock.advance(by: .seconds(5))
        await Task.yield()
      }
    }
    let result = await call()
    time.cancel()
    // It may be about to let more time pass, which is not to be that of the next call.
    await time.value
    return result
  }

  @Test("A handler blocks its thread")
  func handlerBlocks() async {
    let clock = ManualClock()
    let hub = DelegateHub { configuration in
      configuration.clock = clock
      configuration.executor = Self.pool
    }
    let semaphore = DispatchSemaphore(value: 0)
    let blocked = Gate()
    let probes = Probe.many(5)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let block: @Sendable (any Listener) -> Void = { probe in
      guard probe.name == "2" else { return }
      blocked.arrive()
      semaphore.wait()
    }
    hub[Listener.self].notify(block)
    for number in 0..<10 { hub[Listener.self].notify() { $0.log.record(number) } }
    for probe in probes where probe.name != "2" {
      #expect(await probe.log.history(of: 10) == Array(0..<10))
    }
    while await hub.accounts() != .init(handled: 44, waiting: 10, handling: 1) {
      await Task.yield()
    }
    async let answers = hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .counts(as: "late")
    ) { probe in
      block(probe)
      if probe.name != "2" { probe.log.record(-1) }
      return probe.name
    }
    await blocked.arrivals(2)
    for probe in probes where probe.name != "2" { _ = await probe.log.history(of: 11) }
    for _ in 0..<10_000 where await hub.questions().answered < 4 { await Task.yield() }
    _ = await clock.alarms()
    clock.advance(by: .seconds(1))
    #expect(await answers == ["0", "1", "late", "3", "4"])
    semaphore.signal()
    semaphore.signal()
    #expect(await hub.drain().isEmpty)
    #expect(await hub.accounts() == .init(handled: 55))
  }

  /// Its own threads: two that are blocked and one that is left.
  private static let pool = ThreadPool(threads: 3)

  @Test("A handler is cancelled while it runs")
  func handlerIsCancelled() async {
    let hub = DelegateHub()
    let (gate, decided) = (Gate(), Gate())
    let (running, other) = (Probe("running"), Probe("other"))
    let subscription = hub.subscribe(running, to: Listener.self)
    hub.subscribe(other, to: Listener.self)
    hub[Listener.self].notify() { probe in
      guard probe.name == "running" else { return }
      await gate.pass()
      probe.log.record(Task.isCancelled ? -1 : 1)
    }
    hub[Listener.self].notify() { $0.log.record(2) }
    await gate.arrivals()
    _ = await other.log.history(of: 1)

    // A decided vote cancels it and does not wait for it.
    let outcome = await hub[Listener.self].vote() { probe in
      guard probe.name == "running" else {
        await decided.arrivals()
        return false
      }
      await withTaskCancellationHandler {
        decided.arrive()
        await gate.pass()
      } onCancel: {
        probe.log.record(3)
      }
      return true
    }
    #expect(!outcome)
    #expect(await running.log.history(of: 1) == [3])

    // Its subscription's end lets it run on, and discards what waits behind it.
    subscription.cancel()
    while await hub.accounts().handling > 1 { await Task.yield() }
    #expect(await hub.accounts() == .init(handled: 2, cancelled: 1, handling: 1))
    async let ended: Void = subscription.cancelAndWait()
    gate.open()
    await ended
    #expect(running.log.history == [3, 1])
    #expect(await hub.drain().isEmpty)
    #expect(await hub.accounts() == .init(handled: 3, cancelled: 1))
  }
}

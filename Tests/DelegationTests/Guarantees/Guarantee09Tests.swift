import Delegation
import Dispatch
import Testing

@Suite("Guarantee 9: early", .inTurn)
struct Guarantee09Tests {
  /// What one subscriber's answer decides.
  enum Decision: CaseIterable {
    case veto, consent, answer, turn, stop, error

    /// Asks, and gives what came of it.
    func callAsFunction(
      _ all: Delegates<any Listener>, by decider: String,
      _ others: @escaping @Sendable (any Listener) async -> Void
    ) async -> String {
      let isDecider: @Sendable (any Listener) async -> Bool = { probe in
        if probe.name == decider { return true }
        await others(probe)
        return false
      }
      do {
        switch self {
        case .veto: return "\(await all.vote { await !isDecider($0) })"
        case .consent: return "\(await all.vote(by: .anyone) { await isDecider($0) })"
        case .answer:
          return await all.ask(combining: .first()) { await isDecider($0) ? $0.name : "late" }
            ?? "nil"
        case .turn: return await all.askInTurn { await isDecider($0) ? $0.name : nil } ?? "nil"
        case .stop: return "\(await all.pass(1) { await isDecider($0) ? nil : $1 } == nil)"
        case .error:
          let isPassed = try await all.vote { probe async throws(Refusal) in
            if await isDecider(probe) { throw Refusal(reason: "no") }
            return true
          }
          return "\(isPassed)"
        }
      } catch {
        return error.reason
      }
    }

    /// Whether the others run at the same time.
    var isSideBySide: Bool { self != .turn && self != .stop }

    func outcome(of decider: String) -> String {
      switch self {
      case .veto: "false"
      case .consent, .stop: "true"
      case .answer, .turn: decider
      case .error: "no"
      }
    }
  }

  @Test(
    "the call returns when the outcome is fixed; those that run are not waited for, and not counted",
    arguments: Decision.allCases)
  func fixed(decision: Decision) async {
    for place in [0, 5, 9] where decision.isSideBySide || place == 0 {
      let (hub, gate) = (DelegateHub(), Gate())
      let ended = Recorder<Void>()
      hub.cast(10)
      let others = decision.isSideBySide ? 9 : 0
      let outcome = await decision(hub.listeners, by: "\(place)") { _ in
        await gate.pass()
        ended.record(())
      }
      #expect(outcome == decision.outcome(of: "\(place)") && ended.count == 0)
      if gate.arrived > 0 { #expect(await !hub.drain(within: .zero).isEmpty) }
      gate.open()
      #expect(await hub.drain().isEmpty)
      #expect(ended.count <= others)
      // Of those that had been asked nothing counts any more.
      let questions = hub.statistics().questions
      #expect(questions.answered + questions.failed == 1 && questions.abandoned == ended.count)
    }
  }

  @Test("all who had begun are cancelled, each once, when the outcome is fixed, and not before")
  func cancelled() async {
    let (hub, gate, cancelled) = (DelegateHub(), Gate(), Recorder<String>())
    hub.cast(10)
    let outcome = await hub.listeners.vote { probe in
      if probe.name == "9" {
        await gate.arrivals(9)
        #expect(!Task.isCancelled && cancelled.count == 0)
        return false
      }
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        cancelled.record(probe.name)
      }
      return true
    }
    #expect(!outcome)
    #expect(await cancelled.history(of: 9).sorted() == (0..<9).map(String.init))
    let drain = Task { await hub.drain().isEmpty }
    gate.open()
    #expect(await drain.value && cancelled.count == 9)
  }

  @Test("those that have not begun are not called", arguments: Decision.allCases)
  func unbegun(decision: Decision) {
    let (stage, asked) = (Stage(), Recorder<String>())
    stage.hub.cast(10)
    let outcome = stage.perform { hub in
      await decision(hub.listeners, by: "3") { asked.record($0.name) }
    }
    if decision == .answer {
      #expect(outcome == "late" && asked.history == ["0"])
    } else {
      #expect(outcome == decision.outcome(of: "3") && asked.history == ["0", "1", "2"])
    }
    // Of a quorum that cannot be met nobody is asked.
    asked.clear()
    let isQuorate = stage.perform { hub in
      await hub.listeners.vote(by: .unanimous(ofAtLeast: 11)) {
        asked.record($0.name); return true
      }
    }
    #expect(isQuorate == false && asked.history == [])
  }

  @Test("a cancellation handler that blocks does not hold up the decision, on one thread")
  func blockingCancellationHandler() async {
    let pool = ThreadPool(threads: 1)
    let (hub, gate, blockade) = (DelegateHub(on: pool), Gate(), Blockade())
    hub.cast(2)
    // The caller goes on where the handlers run.
    let vote = Task(executorPreference: pool) {
      await hub.listeners.vote { probe in
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
  }

  @Test("nor does one of the voter in the caller's place, which suspends after the decision")
  func blockingInCallersPlace() async {
    let (hub, queue) = (DelegateHub(), DispatchQueue(label: "refusal"))
    let (gate, blockade, probes) = (Gate(), Blockade(), Probe.many(2))
    hub.subscribe(probes[0], to: Listener.self, on: DispatchQueueExecutor(queue))
    hub.subscribe(probes[1], to: Listener.self)
    let isPassed = await hub.listeners.vote { probe in
      if probe.name == "0" { return false }
      // The refusal was sent to the queue before, and it decides within its job there.
      queue.sync {}
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        blockade.enter()
      }
      return true
    }
    #expect(!isPassed && blockade.end(), "the vote waited for the cancellation handler")
    gate.open()
    #expect(await hub.drain().isEmpty)
    withExtendedLifetime(probes) {}
  }

  /// Decides when it has heard five, and keeps a history of its calls.
  private struct Enough: Combiner {
    let calls: Recorder<String>
    var received: [Int] = []

    mutating func begin(asking count: Int) -> [Int]? {
      calls.record("begin \(count)")
      return nil
    }
    mutating func receive(_ response: Int, from position: Int) -> [Int]? {
      calls.record("receive \(position)")
      defer { calls.record("end of receive \(position)") }
      received.append(response)
      return received.count == 5 ? received : nil
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

  @Test("a combiner hears each once, one at a time, and after its decision nothing")
  func combinerCalls() async {
    for round in rounds(30) {
      let (hub, gate, calls) = (DelegateHub(), Gate(), Recorder<String>())
      // If it never decides, it is asked to finish.
      let count = round % 10 == 0 ? 1 : 8
      hub.cast(count)
      let outcome = await hub.listeners.ask(combining: Enough(calls: calls)) { probe in
        if Int(probe.name)! % 2 == 0 { await Task.yield() }
        gate.arrive()
        if probe.name == "7" { await gate.arrivals(8) }
        return Int(probe.name)!
      }
      // One that had been claimed and had not begun at the decision is not asked, and does not arrive.
      for _ in 0..<8 { gate.arrive() }
      await hub.drain()
      var expected = ["begin \(count)"]
      for number in outcome { expected += ["receive \(number)", "end of receive \(number)"] }
      if count == 1 { expected.append("finish") }
      #expect(calls.history == expected && Set(outcome).count == min(5, count))
    }
  }
}

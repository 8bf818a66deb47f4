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
}

import Foundation
import Testing

@testable import Delegation

@Suite("Guarantee 10: priority escalation handlers that block", .inTurn)
struct Guarantee10EscalationTests {
  /// For handlers that block: what they take is not taken from other tests.
  private static let pool = ThreadPool(threads: 16)

  /// The questions that have a deadline.
  enum Question: CaseIterable {
    case vote, ask, collect, askInTurn, pass

    func callAsFunction(
      _ hub: DelegateHub, _ answer: @escaping @Sendable (any Listener) async -> Void
    ) async {
      let second = Duration.seconds(1)
      switch self {
      case .vote:
        _ = await hub[Listener.self].vote(within: second, absent: .abstains) { probe in
          await answer(probe)
          return true
        }
      case .ask:
        _ = await hub[Listener.self].ask(combining: .all(), within: second, absent: .abstains
        ) { await answer($0) }
      case .collect:
        _ = await hub[Listener.self].collect(within: second) { await answer($0) }
      case .askInTurn:
        _ = await hub[Listener.self].askInTurn(within: second, absent: .abstains) { probe -> Int? in
          await answer(probe)
          return nil
        }
      case .pass:
        _ = await hub[Listener.self].pass(0, within: second, absent: .abstains) {
          await answer($0)
          return $1
        }
      }
    }
  }

  @Test("one breaks no deadline, though the caller is raised first", arguments: Question.allCases)
  func deadline(question: Question) async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let clock = ManualClock()
    let hub = DelegateHub { configuration in
      configuration.clock = clock
      configuration.executor = Self.pool
    }
    let (gate, blockade) = (Gate(), Blockade())
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let asking = Task.detached(priority: .low) {
      await question(hub) { _ in
        await withTaskPriorityEscalationHandler {
          await gate.pass()
        } onPriorityEscalated: { _, _ in
          blockade.enter()
        }
      }
    }
    await gate.arrivals()
    _ = await clock.alarms()
    // From a thread of its own, for it may be blocked.
    Thread { asking.escalatePriority(to: .high) }.start()
    await blockade.entry()
    clock.advance(by: .seconds(1))
    await asking.value
    #expect(blockade.end(), "the question waited for the escalation handler")
    gate.open()
    await hub.drain()
    withExtendedLifetime(probe) {}
  }

  @Test("one delays neither the raising of the others, nor whoever raises the caller")
  func others() async {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let hub = DelegateHub(on: Self.pool)
    let (gate, blockade) = (Gate(), Blockade())
    let raised = Recorder<String>()
    let probes = Probe.many(4)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let vote = Task.detached(priority: .low) {
      await hub[Listener.self].vote() { probe in
        await withTaskPriorityEscalationHandler {
          await gate.pass()
        } onPriorityEscalated: { _, _ in
          if probe.name == "0" { blockade.enter() } else { raised.record(probe.name) }
        }
        return true
      }
    }
    await gate.arrivals(4)
    let hasRaised = Gate()
    Thread {
      vote.escalatePriority(to: .high)
      hasRaised.arrive()
    }.start()
    await blockade.entry()
    #expect(await raised.history(of: 3).sorted() == ["1", "2", "3"])
    await hasRaised.arrivals()
    #expect(blockade.end(), "the others, or whoever raised, waited for the escalation handler")
    gate.open()
    #expect(await vote.value)
    await hub.drain()
    withExtendedLifetime(probes) {}
  }
}

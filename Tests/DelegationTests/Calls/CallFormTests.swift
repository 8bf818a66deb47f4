import Delegation
import Dispatch
import Testing

/// What handlers run in.
enum Setting: CaseIterable, Sendable {
  case plain, hubExecutor, ownExecutor, interceptor, conforming

  /// A hub with subscribers, and how to call them.
  func cast(
    _ probes: [Probe], within interceptors: [any DelegateHub.Interceptor] = []
  ) -> (hub: DelegateHub, delegates: Delegates<any Listener>) {
    let hub = DelegateHub(
      .init(
        executor: self == .hubExecutor
          ? DispatchQueueExecutor(MarkedQueue.make("hub")) : nil,
        onIncident: { _ in },
        interceptors: self == .interceptor
          ? interceptors + [Hook { await $1() }] : interceptors))
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    for probe in probes {
      if self == .conforming {
        hub.subscribe(probe, to: Bystander.self, id: probe.name, hold: .strongly)
      } else {
        hub.subscribe(
          probe, to: Listener.self, id: probe.name, hold: .strongly,
          on: self == .ownExecutor ? own : nil)
      }
    }
    return (
      hub,
      self == .conforming
        ? hub[Bystander.self].conforming(to: Listener.self) : hub[Listener.self]
    )
  }

  /// The queue that handlers run on.
  var queue: String {
    switch self {
    case .hubExecutor: "hub"
    case .ownExecutor: "own"
    default: "elsewhere"
    }
  }
}

extension CallForm {
  /// What the call returns among that many subscribers whose handlers return, or all throw.
  func result(among count: Int, throwing isThrowing: Bool = false) -> String {
    let one: Result<Int, any Error> = isThrowing ? .failure(Refusal()) : .success(1)
    switch self {
    case .notify, .notifyAwaiting, .notifyOnMainActor: return "nothing left"
    case _ where call == "notifyAndWait":
      let (handled, failed) = isThrowing ? (0, count) : (count, 0)
      return "addressed \(count), handled \(handled), failed \(failed), missed 0"
    case _ where call == "collect": return "\(Array(repeating: one, count: count))"
    default: break
    }
    if count > 0, isThrowing {
      switch self {
      case .voteAbsent, .voteAbsentOnMainActor: return "false"
      case .voteWithin, .voteWithinOnMainActor: return "true"
      case .askAbsent, .askAbsentOnMainActor: return "\(10 * count)"
      case .askWithin, .askWithinOnMainActor: return "0"
      case .askInTurnAbsent, .passAbsent: return "Optional(10)"
      case .askInTurnWithin, .askInTurnEachWithin, .passEachWithin, .askInTurnWithinOnMainActor:
        return "nil"
      case .passWithin, .passWithinOnMainActor: return "Optional(1)"
      default: return "threw \(Refusal())"
      }
    }
    switch call {
    case "vote": return "true"
    case "ask": return "\(count)"
    case "askInTurn": return count > 0 ? "Optional(1)" : "nil"
    default: return "Optional(\(count + 1))"
    }
  }

  /// Whether the first answer ends it.
  var isFirst: Bool { call == "askInTurn" }
  /// Whether the first error ends it, or what counts for that.
  var isEndedByAnError: Bool {
    result(among: 1, throwing: true).hasPrefix("threw")
      || [.voteAbsent, .voteAbsentOnMainActor, .askInTurnAbsent, .passEachWithin].contains(self)
  }
}

@Suite("Every form of every call", .inTurn)
struct CallFormTests {
  @Test("each is reached once, where handlers run", arguments: CallForm.allCases, Setting.allCases)
  func reaches(form: CallForm, setting: Setting) async {
    let (hub, delegates) = setting.cast(Probe.many(3))
    let called = Recorder<String>()
    let result = await form(delegates) { probe in
      called.record(probe.name)
      if form.isOnMainActor {
        MainActor.preconditionIsolated()
      } else {
        #expect(MarkedQueue.current == setting.queue)
      }
    }
    #expect(result == form.result(among: 3))
    #expect(called.clear().sorted() == (form.isFirst ? ["0"] : ["0", "1", "2"]))
    let (counts, questions) = (hub.statistics().counts, hub.statistics().questions)
    #expect(counts.handled == (form.isNotification ? 3 : 0))
    #expect(questions.answered == (form.isNotification ? 0 : form.isFirst ? 1 : 3))
    await hub.drain()
  }

  @Test("what handlers throw goes where it says", arguments: CallForm.allCases, Setting.allCases)
  func throwing(form: CallForm, setting: Setting) async {
    let (hub, delegates) = setting.cast(Probe.many(2))
    let result = await form(delegates) { _ in throw Refusal() }
    #expect(result == form.result(among: 2, throwing: true))
    await hub.drain()
    let statistics = hub.statistics()
    if form.isNotification {
      #expect(statistics.counts.failed == 2)
    } else if form.isEndedByAnError {
      #expect((1...2).contains(statistics.questions.failed))
    } else {
      #expect(statistics.questions.failed == 2)
    }
  }

  @Test("with nobody there it returns at once", arguments: CallForm.allCases)
  func nobody(form: CallForm) async {
    // Though its executor does not run.
    let hub = DelegateHub(on: ManualExecutor())
    let delegates = hub[Listener.self]
    #expect(await form(delegates) { _ in } == form.result(among: 0))
    #expect(hub.statistics().protocols.isEmpty)
    // Those of another protocol, of another hub, and former ones are nobody.
    let probe = Probe()
    hub.subscribe(probe, to: Bystander.self)
    DelegateHub().subscribe(probe, to: Listener.self)
    hub.subscribe(probe, to: Listener.self).cancel()
    #expect(await form(delegates) { $0.log.record(1) } == form.result(among: 0))
    #expect(probe.log.history == [])
  }
}

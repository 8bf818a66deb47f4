import Delegation
import Testing

/// Who is absent at a deadline, and who is not there.
extension Guarantee10Tests {
  @Test("without a deadline only those who throw are absent, and one that throws cancels nobody")
  func withoutDeadline() {
    let gate = Gate()
    stage.hub.cast(3)
    let ask = stage.start { hub in
      await hub.listeners.ask(combining: .all(), absent: .counts(as: "thrown")) { probe in
        if probe.name == "1" { throw Refusal() }
        await gate.pass()
        return "\(Task.isCancelled)"
      }
    }
    #expect(stage.alarms == 0)
    stage.advance(by: .seconds(1_000))
    #expect(ask.result == nil)
    stage.open(gate)
    #expect(ask.result == ["false", "thrown", "false"])
  }

  /// What becomes of one whose actor is busy, or whose executor stands still.
  enum Fate: CaseIterable { case stays, isCancelled, isUnsubscribed, dies }

  @Test(
    "who is gone before its actor is free is not there; who stays is late, and is not called later",
    arguments: Fate.allCases, [false, true])
  @MainActor
  func hindered(fate: Fate, hasExecutor: Bool) async {
    let stuck = ManualExecutor()
    let told = Recorder<String>()
    let stage = Stage { $0.onIncident = { told.record("\($0.kind) \($0.duration ?? .zero)") } }
    var there: Probe? = Probe("there")
    let subscription = stage.hub.subscribe(
      there!, to: Listener.self, on: hasExecutor ? stuck : nil)
    let second = Duration.seconds(1)
    // The main actor is here.
    let vote = stage.start {
      await $0.listeners.vote(by: .atLeast(1), within: second, absent: .counts(as: true)) {
        @MainActor _ in true
      }
    }
    let replies = stage.start {
      await $0.listeners.collect(within: second) { @MainActor in $0.name }.count
    }
    let turn = stage.start {
      await $0.listeners.askInTurn(within: second, absent: .counts(as: "late")) { @MainActor in
        $0.name
      }
    }
    let pass = stage.start {
      await $0.listeners.pass("v", eachWithin: second, absent: .counts(as: "late")) {
        @MainActor in $1 + $0.name
      }
    }
    switch fate {
    case .stays: break
    case .isCancelled: subscription.cancel()
    case .isUnsubscribed: stage.hub.unsubscribe(there!)
    case .dies: there = nil
    }
    stage.advance(by: second)
    let isLate = fate == .stays
    #expect(vote.result == isLate && replies.result == (isLate ? 1 : 0))
    #expect(turn.result == .some(isLate ? "late" : nil) && pass.result == (isLate ? "late" : "v"))
    while stage.perform({ await $0.drain(within: .zero) })?.isEmpty != true {
      stuck.run()
      await Task.yield()
    }
    let late = told.history.filter { $0.hasPrefix("late") }
    // For no time: their handlers have not begun, and do not.
    #expect(late == Array(repeating: "late 0.0 seconds", count: isLate ? 4 : 0))
    #expect(stage.hub.statistics().questions.asked == 0)
    withExtendedLifetime(there) {}
  }

  @Test("one whose subscription has ended by the deadline is not there, even if its handler runs")
  func endedWhileAsked() {
    let (gate, told) = (Gate(), Recorder<String>())
    let stage = Stage { $0.onIncident = { told.record("\($0.kind)") } }
    let subscription = stage.hub.subscribe(Probe("it"), to: Listener.self, hold: .strongly)
    let votes = [0, 1].map { quorum in
      stage.start { hub in
        await hub.listeners.vote(
          by: .unanimous(ofAtLeast: quorum), within: .seconds(1), absent: .counts(as: false)
        ) { _ in
          await gate.pass()
          return true
        }
      }
    }
    subscription.cancel()
    stage.advance(by: .seconds(1))
    #expect(votes.map(\.result) == [true, false])
    stage.open(gate)
    // Nobody is told, and its handlers are counted as all that end after their deadline.
    #expect(stage.isDrained && told.history == [])
    #expect(stage.hub.statistics().questions.late == 2)
  }
}

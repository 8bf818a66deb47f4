import Delegation
import Testing

@Suite("Guarantee 10: deadline", .inTurn)
struct Guarantee10Tests {
  let stage = Stage()

  /// A question with a deadline, of which somebody may be late.
  enum Question: CaseIterable {
    case vote, ask, collect, askInTurn, pass

    /// Asks, and gives in a word who answered, and who was late.
    func callAsFunction(
      _ all: Delegates<any Listener>, within time: Duration = .seconds(1),
      _ answer: @escaping @Sendable (any Listener) async -> Void
    ) async -> String {
      let name: @Sendable (any Listener) async -> String = { probe in
        await answer(probe)
        return probe.name
      }
      switch self {
      case .vote:
        let isPassed = await all.vote(within: time, absent: .counts(as: false)) {
          await name($0) != ""
        }
        return isPassed ? "all" : "late"
      case .ask:
        return await all.ask(combining: .all(), within: time, absent: .counts(as: "late"), name)
          .joined()
      case .collect:
        return await all.collect(within: time, name).map { (try? $0.result.get()) ?? "late" }
          .joined()
      case .askInTurn:
        let found = await all.askInTurn(within: time, absent: .counts(as: "late")) {
          probe -> String? in
          _ = await name(probe)
          return nil
        }
        return found ?? "all"
      case .pass:
        return await all.pass("", within: time, absent: .counts(as: "late")) {
          $1 + (await name($0))
        }
          ?? "nil"
      }
    }

    /// What it gives among four, of whom one is late.
    func outcome(late place: Int) -> String {
      switch self {
      // Who is late in turn uses up the time of all that follow.
      case .vote, .askInTurn, .pass: "late"
      case .ask, .collect: (0..<4).map { $0 == place ? "late" : "\($0)" }.joined()
      }
    }

    var isInTurn: Bool { self == .askInTurn || self == .pass }
  }

  @Test(
    "it returns at its deadline though one never returns and ignores its cancellation",
    arguments: Question.allCases, [false, true])
  func hanging(question: Question, isCallerCancelled: Bool) {
    for place in [0, 2, 3] {
      let (stage, gate, cancelled) = (Stage(), Gate(), Recorder<String>())
      stage.hub.cast(4)
      let call = stage.start { hub in
        await question(hub.listeners) { probe in
          guard probe.name == "\(place)" else { return }
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            cancelled.record(probe.name)
          }
        }
      }
      if isCallerCancelled { call.cancel() }
      stage.advance(by: .milliseconds(999))
      #expect(call.result == nil && cancelled.count == (isCallerCancelled ? 1 : 0))
      stage.advance(by: .milliseconds(1))
      #expect(call.result == question.outcome(late: place), "\(place)")
      #expect(cancelled.history == ["\(place)"])
      // The drain waits for who is late, and what it answers changes nothing.
      let drain = stage.start { await $0.drain().isEmpty }
      stage.advance(by: .seconds(1))
      #expect(drain.result == nil)
      stage.open(gate)
      #expect(drain.result == true && call.result == question.outcome(late: place))
      #expect(stage.hub.statistics().questions.late == 1 && stage.alarms == 0)
    }
  }

  @Test("an answer that comes after the deadline is late, even if nobody has heard the alarm")
  func afterTheDeadline() {
    stage.hub.cast(1)
    for question in Question.allCases {
      // The alarm waits for the executor, as it does for a pool whose threads are blocked.
      let outcome = stage.start { [clock = stage.clock] hub in
        await question(hub.listeners) { _ in clock.advance(by: .seconds(1)) }
      }
      #expect(outcome.result == "late", "\(question)")
    }
    let each = stage.start { [clock = stage.clock] hub in
      await hub.listeners.askInTurn(eachWithin: .seconds(1), absent: .abstains) { _ in
        clock.advance(by: .seconds(1))
        return 1
      }
    }
    #expect(each.result == .some(nil))
    let questions = stage.hub.statistics().questions
    #expect([questions.answered, questions.late, questions.answering] == [0, 6, 0])
  }

  @Test("the deadline goes by the real clock unless another is configured")
  func realClock() async {
    let (hub, gate) = (DelegateHub(), Gate())
    hub.cast(3)
    // All hang: on a busy machine one that answers at once might be late as well.
    let elapsed = await ContinuousClock().measure {
      let replies = await hub.listeners.collect(within: .milliseconds(300)) { _ in await gate.pass()
      }
      #expect(replies.count { $0.error as? DelegateHub.ReplyError == .timedOut } == 3)
    }
    // No upper bound: on a busy machine it would measure that. If it did not hold, this would hang.
    #expect(elapsed >= .milliseconds(300))
    gate.open()
    await hub.drain()
  }

  @Test("the longest durations are no deadline, and stop nothing")
  func longest() async {
    // In a process of its own, for what is tested is that it does not stop.
    await #expect(processExitsWith: .success) {
      for duration in [
        Duration.seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 0),
        .seconds(1 << 40), .seconds(UInt32.max),
      ] {
        for clock: any Clock<Duration> in [ContinuousClock(), SuspendingClock()] {
          let hub = DelegateHub(.init(clock: clock, slowAfter: duration))
          let gate = Gate()
          hub.cast(2)
          hub.listeners.notify { _ in await gate.pass() }
          await gate.arrivals(2)
          let drained = Task { await hub.drain(within: duration).isEmpty }
          let told = Task { await hub.listeners.notifyAndWait(within: duration) { _ in }.isHandled }
          for question in Question.allCases {
            let outcome = await question(hub.listeners, within: duration) { _ in await Task.yield()
            }
            precondition(!outcome.contains("late"))
          }
          gate.open()
          let (isDrained, isTold) = await (drained.value, told.value)
          precondition(isDrained && isTold)
        }
      }
    }
  }
}

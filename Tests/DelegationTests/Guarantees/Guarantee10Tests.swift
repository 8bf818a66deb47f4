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
      case .vote, .askInTurn: "late"
      // Who is late uses up everybody's time, so the value is what counts for the last one.
      case .pass: "late"
      case .ask, .collect: (0..<4).map { $0 == place ? "late" : "\($0)" }.joined()
      }
    }

    var isInTurn: Bool { self == .askInTurn || self == .pass }
  }

  @Test(
    "it returns at its deadline though one never returns and ignores its cancellation",
    arguments: Question.allCases)
  func hanging(question: Question) {
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
      stage.advance(by: .milliseconds(999))
      #expect(call.result == nil && cancelled.history == [])
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

  @Test(
    "calls at the same time have each their own deadline, and one that is decided leaves no alarm")
  func ownDeadlines() {
    let gates = [Gate(), Gate()]
    stage.hub.cast(2)
    let votes = (1...3).map { seconds in
      stage.start { hub in
        await hub.listeners.vote(within: .seconds(seconds), absent: .abstains) { _ in
          await gates[0].pass()
          return true
        }
      }
    }
    let patient = stage.start { hub in
      await hub.listeners.vote(absent: .abstains) { _ in
        await gates[0].pass()
        return true
      }
    }
    let decided = stage.start { hub in
      await hub.listeners.vote(within: .seconds(9), absent: .abstains) { probe in
        await gates[1].pass()
        return probe.name == "0"
      }
    }
    #expect(stage.alarms == 4)
    stage.open(gates[1])
    #expect(stage.alarms == 3 && decided.result == false)
    for second in 1...3 {
      stage.advance(by: .seconds(1))
      #expect(votes.map { $0.result != nil } == (1...3).map { $0 <= second })
    }
    stage.advance(by: .seconds(1_000_000))
    #expect(patient.result == nil && stage.alarms == 0)
    stage.open(gates[0])
    #expect(patient.result == true)
  }

  @Test(
    "with a deadline of zero, or a past one, nobody is asked; all who are there count as absent")
  func zero() {
    let (asked, names) = (Recorder<String>(), ["0", "1", "2"])
    stage.hub.cast(3)
    for time in [Duration.zero, .seconds(-60), .nanoseconds(-1)] {
      for question in Question.allCases {
        let outcome = stage.perform {
          await question($0.listeners, within: time) { asked.record($0.name) }
        }
        let expected =
          question == .ask || question == .collect ? names.map { _ in "late" }.joined() : "late"
        #expect(outcome == expected, "\(question) within \(time)")
      }
      let votes = stage.perform { hub in
        [
          await hub.listeners.vote(within: time, absent: .abstains) {
            asked.record($0.name); return false
          },
          await hub.listeners.vote(by: .anyone, within: time, absent: .abstains) { _ in true },
        ]
      }
      #expect(votes == [true, false])
      let errors = stage.perform {
        await $0.listeners.collect(within: time) { $0.name }.map(\.error)
      }
      #expect(errors?.map { $0 as? DelegateHub.ReplyError } == [.timedOut, .timedOut, .timedOut])
    }
    #expect(asked.history == [] && stage.alarms == 0)
  }

  @Test("nobody to ask and nothing to wait for: the call returns without an alarm")
  func nobody() {
    for question in Question.allCases {
      let outcome = stage.perform { await question($0.listeners) { _ in } }
      #expect(outcome == ["all", "", "", "all", ""][Question.allCases.firstIndex(of: question)!])
    }
    #expect(stage.alarms == 0)
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

  @Test(
    "answers after the deadline change nothing, and no combiner hears of them",
    arguments: [false, true])
  func combiner(abstains: Bool) {
    let (gate, heard) = (Gate(), Recorder<String>())
    stage.hub.cast(3)
    let ask = stage.start { hub in
      await hub.listeners.ask(
        combining: Eavesdropper(heard: heard), within: .seconds(1),
        absent: abstains ? .abstains : .counts(as: 100)
      ) { probe in
        if probe.name == "0" { throw Refusal() }
        if probe.name == "2" { await gate.pass() }
        return 1
      }
    }
    stage.advance(by: .seconds(1))
    let expected =
      abstains
      ? ["3 asked", "0 missed", "1 from 1", "2 missed", "finished"]
      : ["3 asked", "100 from 0", "1 from 1", "100 from 2", "finished"]
    #expect(heard.history == expected && ask.result == (abstains ? 1 : 201))
    stage.open(gate)
    #expect(heard.history == expected)
  }

  @Test(
    "a cancelled caller gets what the handlers answer, and the deadline stays",
    arguments: Question.allCases)
  func cancelledCaller(question: Question) {
    let (gate, seen) = (Gate(), Recorder<Bool>())
    stage.hub.cast(4)
    let call = stage.start { hub in
      await question(hub.listeners) { probe in
        if probe.name == "1" { await gate.pass() }
        if probe.name > "1" { seen.record(Task.isCancelled) }
      }
    }
    call.cancel()
    stage.run()
    #expect(call.result == nil)
    stage.advance(by: .seconds(1))
    #expect(call.result == question.outcome(late: 1))
    stage.open(gate)
    #expect(seen.count == (question.isInTurn ? 0 : 2))
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
      let durations = [
        Duration.seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 0),
        .seconds(1 << 40), .seconds(UInt32.max),
      ]
      let clocks: [any Clock<Duration>] = [ContinuousClock(), SuspendingClock()]
      for clock in clocks {
        for duration in durations {
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

  @Test("many calls that are decided before their deadline leave no alarm, nor any sleeper")
  func manyDecided() async {
    let (clock, executor) = (ManualClock(), ThreadPool(threads: 2))
    let hub = DelegateHub(clock, on: executor)
    hub.cast(2)
    for _ in 0..<200 {
      for question in Question.allCases {
        #expect(await question(hub.listeners) { _ in await Task.yield() } != "late")
      }
    }
    await clock.silence()
  }
}

/// Adds up, and writes down what it is told.
struct Eavesdropper: Combiner {
  let heard: Recorder<String>
  private var sum = 0

  init(heard: Recorder<String>) {
    self.heard = heard
  }

  mutating func begin(asking count: Int) -> Int? {
    heard.record("\(count) asked")
    return nil
  }
  mutating func receive(_ response: Int, from position: Int) -> Int? {
    heard.record("\(response) from \(position)")
    sum += response
    return nil
  }
  mutating func receiveNothing(from position: Int) -> Int? {
    heard.record("\(position) missed")
    return nil
  }
  mutating func finish() -> Int {
    heard.record("finished")
    return sum
  }
}

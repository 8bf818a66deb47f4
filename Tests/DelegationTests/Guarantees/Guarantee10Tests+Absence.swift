import Delegation
import Testing

/// What counts for those who are absent, against what the rule says of the answers that count; and who is not.
extension Guarantee10Tests {
  /// What a subscriber does when it is asked.
  enum Conduct: CaseIterable {
    case agrees, refuses, throwing, late
  }

  /// A rule, and what is expected of the answers that count, if enough have answered themselves.
  struct Rule: Sendable {
    let rule: BooleanRule
    var quorum = 0
    let expected: @Sendable ([Bool]) -> Bool

    static let all = [
      Rule(rule: .unanimous) { !$0.contains(false) },
      Rule(rule: .anyone) { $0.contains(true) },
      Rule(rule: .nobody) { !$0.contains(true) },
      Rule(rule: .majority) { answers in answers.count { $0 } > answers.count { !$0 } },
      Rule(rule: .atLeast(2)) { answers in answers.count { $0 } >= 2 },
      Rule(rule: .unanimous(ofAtLeast: 2), quorum: 2) { !$0.contains(false) },
      Rule(rule: .nobody(ofAtLeast: 2), quorum: 2) { !$0.contains(true) },
    ]
  }

  @Test("who throws or is late counts as `absent:` says, by every rule", arguments: Rule.all)
  func mixtures(rule: Rule) {
    let all = Conduct.allCases
    for conducts in all.flatMap({ one in all.flatMap { two in all.map { [one, two, $0] } } }) {
      for substitute in [nil, true, false] {
        let answers = conducts.compactMap { conduct in
          conduct == .agrees ? true : conduct == .refuses ? false : substitute
        }
        let isQuorate = conducts.count { $0 == .agrees || $0 == .refuses } >= rule.quorum
        #expect(
          outcome(of: conducts, by: rule.rule, counting: substitute)
            == (isQuorate && rule.expected(answers)), "\(conducts), counting \(substitute as Any)")
      }
    }
  }

  /// Holds a vote of a mixture, to its deadline if need be.
  private func outcome(of conducts: [Conduct], by rule: BooleanRule, counting substitute: Bool?)
    -> Bool?
  {
    let (stage, gate) = (Stage(), Gate())
    stage.hub.cast(conducts.count)
    let absence = substitute.map { DelegateHub.Absence.counts(as: $0) } ?? .abstains
    let vote = stage.start { hub in
      await hub.listeners.vote(by: rule, within: .seconds(1), absent: absence) { probe in
        let conduct = conducts[Int(probe.name)!]
        if conduct == .throwing { throw Refusal() }
        if conduct == .late { await gate.pass() }
        return conduct != .refuses
      }
    }
    if !conducts.contains(.late), vote.result == nil { return nil }
    stage.advance(by: .seconds(1))
    defer { stage.open(gate) }
    return vote.result
  }

  @Test(
    "a combiner of values leaves out who abstains, and takes what counts for the others in its place"
  )
  func values() {
    let gate = Gate()
    stage.hub.cast(3)
    func ask<C: Combiner>(_ combiner: C, _ absence: DelegateHub.Absence<Int>) -> C.Outcome?
    where C.Response == Int {
      let ask = stage.start { hub in
        await hub.listeners.ask(combining: combiner, within: .seconds(1), absent: absence) {
          probe in
          if probe.name == "1" { throw Refusal() }
          if probe.name == "2" { await gate.pass() }
          return 7
        }
      }
      stage.advance(by: .seconds(1))
      return ask.result
    }
    let fold = Reduction<Int, Int>(100) { $0 * 2 + $1 }
    for (absence, all, numbers) in [
      (DelegateHub.Absence.abstains, [7], [7, 7, 7, 207]),
      (.counts(as: 3), [7, 3, 3], [13, 3, 7, 837]),
    ] {
      #expect(ask(.all(), absence) == all && ask(.sum(), absence) == numbers[0])
      #expect(ask(.min(), absence) == numbers[1] && ask(.max(), absence) == numbers[2])
      #expect(ask(.first(), absence) == 7 && ask(fold, absence) == numbers[3])
    }
    stage.open(gate)
  }

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

  @Test("a gate that nobody keeps lets nobody in with `ofAtLeast:`, at the first call and later")
  func deadGate() {
    do { stage.hub.subscribe(Probe("gate"), to: Listener.self) }
    for _ in 0..<2 {
      let outcomes = stage.perform { hub in
        [
          await hub.listeners.vote(by: .unanimous(ofAtLeast: 1)) { _ in true },
          await hub.listeners.vote(by: .nobody(ofAtLeast: 1)) { _ in false },
          await hub.listeners.vote { _ in true },
        ]
      }
      #expect(outcomes == [false, false, true])
    }
  }

  /// What keeps a subscriber from being asked, and what becomes of it.
  struct Hindrance: Sendable, CustomStringConvertible {
    enum Fate: CaseIterable {
      case stays, isCancelled, isUnsubscribed, dies, hasDied, doesNotConform
    }

    let fate: Fate
    /// Whether it is the closure's actor that is busy, and not the subscriber's executor.
    let isActor: Bool
    var description: String { "\(fate), \(isActor ? "a busy actor" : "a busy executor")" }

    static let all = Fate.allCases.flatMap { fate in
      [false, true].map { Hindrance(fate: fate, isActor: $0) }
    }
  }

  @Test(
    "who is removed, dies or does not conform before it could be asked is not late, but not there",
    arguments: Hindrance.all)
  func hindered(by hindrance: Hindrance) async {
    // On the clerk's lane, which is held up, no other test may wait.
    let lane = Clerk.lane
    let (clock, told) = (ManualClock(), Recorder<String>())
    let hub = DelegateHub(.init(clock: clock, onIncident: { told.record("\($0.kind)") }))
    var there: Probe? = Probe("there")
    let executor = hindrance.isActor ? nil : LaneTaskExecutor(lane)
    let subscription =
      hindrance.fate == .hasDied
      ? hub.subscribe(Probe("dead"), to: Listener.self, on: executor)
      : hub.subscribe(there!, to: Listener.self, on: executor)
    let all =
      hindrance.fate == .doesNotConform
      ? hub.listeners.conforming(to: Outsider.self).conforming(to: Listener.self) : hub.listeners
    lane.hold(.suspended)
    defer { lane.release() }
    func ask<Result: Sendable>(
      _ body: @escaping @Sendable (Delegates<any Listener>) async -> Result
    ) -> Task<Result, Never> {
      Task { await body(all) }
    }
    let second = Duration.seconds(1)
    let isActor = hindrance.isActor
    let vote = ask { all in
      isActor
        ? await all.vote(by: .atLeast(1), within: second, absent: .counts(as: true)) { @Clerk _ in
          true
        }
        : await all.vote(by: .atLeast(1), within: second, absent: .counts(as: true)) { _ in true }
    }
    let replies = ask { all in
      isActor
        ? await all.collect(within: second) { @Clerk in $0.name }.count
        : await all.collect(within: second) { $0.name }.count
    }
    let turn = ask { all in
      isActor
        ? await all.askInTurn(within: second, absent: .counts(as: "late")) { @Clerk in $0.name }
        : await all.askInTurn(within: second, absent: .counts(as: "late")) { $0.name }
    }
    // Who cannot be asked from the beginning is not waited for at all.
    let isBarred = hindrance.fate == .hasDied || hindrance.fate == .doesNotConform
    if !isBarred {
      await clock.waitForSleepers(3)
      switch hindrance.fate {
      case .isCancelled: subscription.cancel()
      case .isUnsubscribed: hub.unsubscribe(there!)
      case .dies: there = nil
      default: break
      }
      clock.advance(by: second)
    }
    let isLate = hindrance.fate == .stays
    #expect(await vote.value == isLate)
    #expect(await replies.value == (isLate ? 1 : 0))
    #expect(await turn.value == (isLate ? "late" : nil))
    #expect(lane.release(), "it has waited for the executor of one that could not be asked")
    await hub.drain()
    #expect(told.history.count { $0 == "late" } == (isLate ? 3 : 0), "\(told.history)")
    #expect(hub.statistics().questions.asked == hub.statistics().questions.late)
    withExtendedLifetime(there) {}
  }

  @Test("with a deadline of zero, too, who is dead or does not conform is not there")
  func zeroAndHindered() {
    for conforms in [false, true] {
      let (stage, first) = (Stage(), Probe("first"))
      if conforms { stage.hub.subscribe(first, to: Listener.self) }
      do { stage.hub.subscribe(Probe("dead"), to: Listener.self) }
      if !conforms { stage.hub.subscribe(first, to: Listener.self) }
      let count = stage.perform { hub in
        let all =
          conforms
          ? hub.listeners
          : hub.listeners.conforming(to: Outsider.self).conforming(to: Listener.self)
        return await all.collect(within: .zero) { $0.name }.count
      }
      #expect(count == (conforms ? 1 : 0))
    }
  }

  @Test(
    "a subscriber whose subscription has ended by the deadline is not there, even if its handler runs"
  )
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

private protocol Outsider: AnyObject, Sendable {}

/// An actor whose executor can be held up.
@globalActor private actor Clerk {
  static let shared = Clerk()
  static let lane = Lane("clerk's")
  private static let executor = LaneSerialExecutor(lane)
  nonisolated var unownedExecutor: UnownedSerialExecutor { Self.executor.asUnownedSerialExecutor() }
}

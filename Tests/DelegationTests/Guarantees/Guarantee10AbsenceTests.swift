import Testing

@testable import Delegation

/// Every mixture of three subscribers that answer, throw or are late, against what the rule says of
/// the answers that count.
@Suite("Guarantee 10: who is absent", .inTurn)
struct Guarantee10AbsenceTests {
  /// What a subscriber does when it is asked.
  enum Conduct: CaseIterable {
    case agrees, refuses, throwing, late
  }

  /// What to count for those who throw or are late.
  enum Substitute: CaseIterable {
    case nothing, yes, no

    var absence: DelegateHub.Absence<Bool> {
      switch self {
      case .nothing: .abstains
      case .yes: .counts(as: true)
      case .no: .counts(as: false)
      }
    }

    /// The answers that count.
    func answers(of conducts: [Conduct]) -> [Bool] {
      conducts.compactMap { conduct in
        switch (conduct, self) {
        case (.agrees, _), (.throwing, .yes), (.late, .yes): true
        case (.refuses, _), (.throwing, .no), (.late, .no): false
        case (_, .nothing): nil
        }
      }
    }
  }

  private static let mixtures: [[Conduct]] = Conduct.allCases.flatMap { first in
    Conduct.allCases.flatMap { second in
      Conduct.allCases.map { third in [first, second, third] }
    }
  }

  /// Holds a vote of a mixture, to its deadline if need be.
  private func outcome(
    of conducts: [Conduct], by rule: some Combiner<Bool, Bool>, counting substitute: Substitute
  ) -> Bool? {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(conducts.count)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(by: rule, within: .seconds(1), absent: substitute.absence
      ) { probe in
        switch conducts[Int(probe.name)!] {
        case .agrees: return true
        case .refuses: return false
        case .throwing: throw Refusal()
        case .late:
          await gate.pass()
          return true
        }
      }
    }
    if !conducts.contains(.late) { #expect(vote.result != nil) }
    stage.advance(by: .seconds(1))
    defer { stage.open(gate) }
    withExtendedLifetime(probes) {}
    return vote.result
  }

  /// Compares the outcomes of all mixtures with what is expected of the answers that count, if enough
  /// have answered themselves.
  private func check(
    _ rule: some Combiner<Bool, Bool>, ofAtLeast quorum: Int = 0, _ expected: ([Bool]) -> Bool,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for substitute in Substitute.allCases {
      for conducts in Self.mixtures {
        let answers = substitute.answers(of: conducts)
        let isQuorate = conducts.count { $0 == .agrees || $0 == .refuses } >= quorum
        #expect(
          outcome(of: conducts, by: rule, counting: substitute) == (isQuorate && expected(answers)),
          "\(conducts), counting \(substitute)", sourceLocation: sourceLocation)
      }
    }
  }

  @Test("unanimous: no answer that counts is a no")
  func unanimous() {
    check(.unanimous) { !$0.contains(false) }
  }

  @Test("anyone: an answer that counts is a yes")
  func anyone() {
    check(.anyone) { $0.contains(true) }
  }

  @Test("nobody: no answer that counts is a yes")
  func nobody() {
    check(.nobody) { !$0.contains(true) }
  }

  @Test("majority: more of those that count say yes than no")
  func majority() {
    check(.majority) { answers in answers.count { $0 } > answers.count { !$0 } }
  }

  @Test("at least two: that many of those that count say yes")
  func atLeastTwo() {
    check(.atLeast(2)) { answers in answers.count { $0 } >= 2 }
  }

  @Test("unanimous of at least two: what counts for the absent is no answer, and a no all the same")
  func unanimousOfAtLeastTwo() {
    check(.unanimous(ofAtLeast: 2), ofAtLeast: 2) { !$0.contains(false) }
  }

  @Test("nobody of at least two: what counts for the absent is no answer, and a yes all the same")
  func nobodyOfAtLeastTwo() {
    check(.nobody(ofAtLeast: 2), ofAtLeast: 2) { !$0.contains(true) }
  }

  @Test("a gate that nobody keeps lets nobody in, at the first call and at later ones")
  func deadGate() async {
    let stage = Stage()
    stage.hub.subscribe(Probe("gate"), to: Listener.self)
    for _ in 0..<2 {
      let outcomes = stage.perform { hub in
        [
          await hub[Listener.self].vote(by: .unanimous(ofAtLeast: 1)) { _ in true },
          await hub[Listener.self].vote(by: .nobody(ofAtLeast: 1)) { _ in false },
          await hub[Listener.self].vote() { _ in true },
        ]
      }
      #expect(outcomes == [false, false, true])
    }
  }

  @Test("a veto comes with its reason")
  func veto() {
    for objections in words(of: [nil, "too late", "too loud"], length: 2) {
      let stage = Stage()
      let probes = stage.cast(2)
      let objection = stage.perform { hub in
        await hub[Listener.self].ask(combining: .firstNonNil()) { objections[Int($0.name)!] }
      }
      #expect(objection == .some(objections.lazy.compactMap(\.self).first))
      withExtendedLifetime(probes) {}
    }
  }

  /// Asks three, of whom "1" throws and "2" is late.
  private func ask<C: Combiner<Int, Outcome>, Outcome>(
    _ combiner: C, absent absence: DelegateHub.Absence<Int>
  ) -> Outcome? {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: combiner, within: .seconds(1), absent: absence) {
        probe in
        if probe.name == "1" { throw Refusal() }
        if probe.name == "2" { await gate.pass() }
        return 7
      }
    }
    stage.advance(by: .seconds(1))
    defer { stage.open(gate) }
    withExtendedLifetime(probes) {}
    return ask.result
  }

  @Test("combiners of values leave those out that abstain")
  func valuesAbstaining() {
    #expect(ask(.all(), absent: .abstains) == [7])
    #expect(ask(.sum(), absent: .abstains) == 7)
    #expect(ask(.first(), absent: .abstains) == 7)
    #expect(ask(.min(), absent: .abstains) == 7)
    #expect(ask(.max(), absent: .abstains) == 7)
    #expect(ask(Reduction<Int, Int>(100) { $0 + $1 }, absent: .abstains) == 107)
  }

  @Test("combiners of values take what counts for the absent, in its place")
  func valuesCounting() {
    #expect(ask(.all(), absent: .counts(as: 3)) == [7, 3, 3])
    #expect(ask(.sum(), absent: .counts(as: 3)) == 13)
    #expect(ask(.first(), absent: .counts(as: 3)) == 7)
    #expect(ask(.min(), absent: .counts(as: 3)) == 3)
    #expect(ask(.max(), absent: .counts(as: 10)) == 10)
    #expect(ask(Reduction<Int, Int>(100) { $0 * 2 + $1 }, absent: .counts(as: 3)) == 837)
  }

  @Test("without a deadline only those who throw are absent")
  func withoutDeadline() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all(), absent: .counts(as: "thrown")) { probe in
        if probe.name == "1" { throw Refusal() }
        if probe.name == "2" { await gate.pass() }
        return probe.name
      }
    }
    #expect(stage.alarms == 0)
    stage.advance(by: .seconds(1_000))
    #expect(ask.result == nil)
    stage.open(gate)
    #expect(ask.result == ["0", "thrown", "2"])
    withExtendedLifetime(probes) {}
  }

  @Test("one that throws cancels nobody")
  func throwingCancelsNobody() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .counts(as: "thrown")
      ) { probe in
        if probe.name == "0" { throw Refusal() }
        await gate.pass()
        return "\(Task.isCancelled)"
      }
    }
    stage.open(gate)
    #expect(ask.result == ["thrown", "false", "false"])
    withExtendedLifetime(probes) {}
  }

  @Test("those who died or were removed before they were asked are missing, not absent")
  func missing() {
    let stage = Stage()
    let dying = Recorder<Void>()
    var mortal: Probe? = Probe("mortal", onDeath: { dying.record(()) })
    let first = Probe("first")
    let (removed, last) = (Probe("removed"), Probe("last"))
    stage.hub.subscribe(first, to: Listener.self)
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    let subscription = stage.hub.subscribe(removed, to: Listener.self)
    stage.hub.subscribe(last, to: Listener.self)
    mortal = nil
    #expect(dying.history.count == 1)
    let names = stage.perform { hub in
      await hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .counts(as: "absent")
      ) { probe in
        subscription.cancel()
        return probe.name
      }
    }
    #expect(names == ["first", "last"])
    withExtendedLifetime((first, removed, last)) {}
  }
}

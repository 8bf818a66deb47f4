import Delegation
import Testing

@Suite("askInTurn and pass: who throws, is late, or is not there", .inTurn)
struct InTurnAbsenceTests {
  private let incidents = Recorder<DelegateHub.Incident.Kind>()
  private let stage: Stage

  init() { stage = Stage { [incidents] in $0.onIncident = { incidents.record($0.kind) } } }

  private typealias Handle = @Sendable (any Listener) async throws -> Void

  /// Asks in turn, to be answered by one, by its name.
  private func ask(
    for name: String, within limit: Duration? = nil, each: Duration? = nil,
    absent: DelegateHub.Absence<String?>, _ handle: @escaping Handle
  ) -> Stage.Act<String?> {
    stage.start { hub in
      await hub[Listener.self].askInTurn(within: limit, eachWithin: each, absent: absent) {
        try await handle($0)
        return $0.name == name ? name : nil
      }
    }
  }

  /// Passes a text to which each adds its name.
  private func pass(
    within limit: Duration? = nil, each: Duration? = nil, absent: DelegateHub.Absence<String?>,
    _ handle: @escaping Handle
  ) -> Stage.Act<String?> {
    stage.start { hub in
      await hub[Listener.self].pass("", within: limit, eachWithin: each, absent: absent) {
        try await handle($0)
        return $1 + $0.name
      }
    }
  }

  @Test("at the deadline nobody further is asked; the one that runs is cancelled, and late")
  func late() {
    let probes = Probe.many(3)
    let subscriptions = probes.map { stage.hub.subscribe($0, to: Listener.self) }
    let (gate, cancelled) = (Gate(), Recorder<Bool>())
    let handle: Handle = { probe in
      probe.log.record(1)
      guard probe.name == "1" else { return }
      await gate.pass()
      cancelled.record(Task.isCancelled)
    }
    let calls =
      [.abstains, .counts(as: "absent")].map {
        ask(for: "1", within: .seconds(1), absent: $0, handle)
      }
      + [.abstains, .counts(as: "x"), .counts(as: nil)].map {
        pass(within: .seconds(1), absent: $0, handle)
      }
    #expect(calls.allSatisfy { $0.result == nil })
    stage.advance(by: .seconds(1))
    #expect(calls.map(\.result) == [.some(nil), "absent", "0", "x", .some(nil)])
    stage.open(gate)
    #expect(cancelled.history == Array(repeating: true, count: 5))
    #expect(probes.map(\.log.history.count) == [5, 5, 0])
    #expect(subscriptions.map(\.statistics.questions.late) == [0, 5, 0])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("each has its own deadline: a late one is passed over, or counts, and the next is asked")
  func each() {
    let probes = stage.cast(4)
    let gate = Gate()
    let handle: Handle = { probe in
      probe.log.record(1)
      if ["0", "2"].contains(probe.name) { await gate.pass() }
    }
    let calls =
      [.abstains, .counts(as: nil), .counts(as: "absent")].map {
        ask(for: "3", each: .seconds(1), absent: $0, handle)
      }
      + [.abstains, .counts(as: "x"), .counts(as: nil)].map {
        pass(each: .seconds(1), absent: $0, handle)
      }
    stage.advance(by: .milliseconds(999))
    #expect(probes.map(\.log.history.count) == [6, 0, 0, 0])
    stage.advance(by: .milliseconds(1))
    #expect(calls.map(\.result) == [nil, nil, "absent", nil, nil, .some(nil)])
    stage.advance(by: .seconds(1))
    #expect(calls.map(\.result) == ["3", "3", "absent", "13", "x3", .some(nil)])
    stage.open(gate)
    #expect(incidents.history.allSatisfy { $0 == .late } && incidents.history.count == 10)
    #expect(stage.clock.sleepers == 0)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("with both deadlines, whichever comes first: that of the whole call ends it")
  func both() {
    let (gate, probes) = (Gate(), stage.cast(4))
    let call = stage.start { hub in
      await hub[Listener.self].pass(
        "", within: .milliseconds(2500), eachWithin: .seconds(1), absent: .counts(as: "late")
      ) { probe, text in
        probe.log.record(1)
        await gate.pass()
        return text + probe.name
      }
    }
    for _ in 1...2 { stage.advance(by: .seconds(1)) }
    stage.advance(by: .milliseconds(499))
    #expect(call.result == nil)
    stage.advance(by: .milliseconds(1))
    #expect(call.result == "late" && probes.map(\.log.history.count) == [1, 1, 1, 0])
    stage.open(gate)
  }

  @Test("with zero nobody is asked; nobody to ask is nobody late")
  func zero() {
    func calls(within none: Duration) -> [String?] {
      stage.perform { hub in
        let all = hub[Listener.self]
        return [
          await all.askInTurn(within: none, absent: .counts(as: "absent")) { $0.name },
          await all.pass("v", within: none, absent: .counts(as: "absent")) { $1 + $0.name },
          await all.pass("v", eachWithin: none, absent: .counts(as: "absent")) { $1 + $0.name },
          await all.askInTurn(eachWithin: none, absent: .abstains) { $0.name },
        ]
      } ?? []
    }
    stage.hub.subscribe(Probe("dead"), to: Listener.self)
    #expect(calls(within: .zero) == [nil, "v", "v", nil])
    stage.hub.subscribe(Probe("dead"), to: Listener.self)
    let probes = stage.cast(2)
    for none in [.zero, Duration(attoseconds: .min)] {
      #expect(calls(within: none) == ["absent", "absent", "absent", nil])
    }
    #expect(probes.flatMap(\.log.history) == [])
  }

  /// A clock that counts how often it is read.
  private struct ReadClock: Clock {
    let base = ManualClock()
    let reads = Recorder<Void>()
    var now: ManualClock.Instant {
      reads.record(())
      return base.now
    }
    var minimumResolution: Duration { base.minimumResolution }
    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      try await base.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test("once the time is over, those who are left take no turns", arguments: [0, 1])
  func rest(seconds: Int) {
    let (clock, gate) = (ReadClock(), Gate())
    let stage = Stage { $0.clock = clock }
    stage.cast(100)
    let call = stage.start { hub in
      await hub[Listener.self].pass("v", within: .seconds(seconds), absent: .abstains) { probe, _ in
        await gate.pass()
        return probe.name
      }
    }
    clock.base.advance(by: .seconds(seconds))
    stage.run()
    #expect(call.result == "v" && clock.reads.count < 20)
    stage.open(gate)
  }
}

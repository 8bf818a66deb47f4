import Testing

@testable import Delegation

@Suite("askInTurn and pass, in time and without failing", .inTurn)
struct InTurnDeadlineTests {
  private let stage = Stage()

  // MARK: Without a deadline

  @Test("one that throws is passed over, or has the answer that absent says")
  func throwing() {
    let probes = stage.cast(3)
    func ask(_ absence: DelegateHub.Absence<String?>) -> String?? {
      stage.perform { hub in
        await hub[Listener.self].askInTurn(absent: absence) { probe in
          if probe.name == "0" { throw Refusal() }
          return probe.name
        }
      }
    }
    #expect(ask(.abstains) == "1")
    #expect(ask(.counts(as: nil)) == "1")
    #expect(ask(.counts(as: "absent")) == "absent")
    func pass(_ absence: DelegateHub.Absence<String?>) -> String?? {
      stage.perform { hub in
        await hub[Listener.self].pass("", absent: absence) { probe, text in
          if probe.name == "1" { throw Refusal() }
          return text + probe.name
        }
      }
    }
    #expect(pass(.abstains) == "02")
    #expect(pass(.counts(as: "x")) == "x2")
    #expect(pass(.counts(as: nil)) == .some(nil))
    withExtendedLifetime(probes) {}
  }

  // MARK: With a deadline

  @Test("they are asked one after another, and never two at once", arguments: [false, true])
  func oneAfterAnother(hasExecutor: Bool) async {
    let hub = DelegateHub()
    let probes = Probe.many(20)
    let queue = MarkedQueue.make("own")
    for (number, probe) in probes.enumerated() {
      let isOnQueue = hasExecutor && number.isMultiple(of: 3)
      if isOnQueue {
        hub.subscribe(probe, to: Listener.self, on: queue)
      } else {
        hub.subscribe(probe, to: Listener.self)
      }
    }
    let events = Recorder<String>()
    let answer = await hub[Listener.self].askInTurn(within: .seconds(600), absent: .abstains) {
      probe -> Int? in
      events.record("\(probe.name) begins")
      await Task.yield()
      events.record("\(probe.name) ends")
      return nil
    }
    #expect(answer == nil)
    #expect(events.history == probes.flatMap { ["\($0.name) begins", "\($0.name) ends"] })
    let passed = await hub[Listener.self].pass("", within: .seconds(600), absent: .abstains
    ) {
      $1 + $0.name
    }
    #expect(passed == probes.map(\.name).joined())
  }

  @Test("the first answer is returned, and nobody after it is asked")
  func stops() {
    let probes = stage.cast(4)
    let answer = stage.perform { hub in
      await hub[Listener.self].askInTurn(within: .seconds(1), absent: .abstains) { probe in
        probe.log.record(1)
        return probe.name == "2" ? probe.name : nil
      }
    }
    #expect(answer == "2")
    #expect(probes.map(\.log.history) == [[1], [1], [1], []])
    let passed: Int?? = stage.perform { hub in
      await hub[Listener.self].pass(1, within: .seconds(1), absent: .abstains) {
        probe, value in
        probe.log.record(2)
        return probe.name == "1" ? nil : value
      }
    }
    #expect(passed == .some(nil))
    #expect(probes.map { $0.log.history.last } == [2, 2, 1, nil])
  }

  @Test(
    "at the deadline nobody further is asked; the one that runs is cancelled and not waited for")
  func late() {
    let probes = stage.cast(3)
    let gate = Gate()
    let cancelled = Recorder<Bool>()
    func ask(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].askInTurn(within: .seconds(1), absent: absence) { probe in
          probe.log.record(1)
          if probe.name == "1" {
            await gate.pass()
            cancelled.record(Task.isCancelled)
            return "late"
          }
          return nil
        }
      }
    }
    let abstaining = ask(.abstains)
    let counting = ask(.counts(as: "absent"))
    stage.run()
    #expect(abstaining.result == nil)
    stage.advance(by: .seconds(1))
    #expect(abstaining.result == .some(nil))
    #expect(counting.result == "absent")
    stage.open(gate)
    #expect(cancelled.history == [true, true])
    #expect(probes.map(\.log.history) == [[1, 1], [1, 1], []])
  }

  @Test("at the deadline pass gives the value so far, or what absent says")
  func valueSoFar() {
    let probes = stage.cast(3)
    let gate = Gate()
    func pass(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].pass("", within: .seconds(1), absent: absence) {
          probe, text in
          if probe.name == "1" { await gate.pass() }
          return text + probe.name
        }
      }
    }
    let calls = [pass(.abstains), pass(.counts(as: "x")), pass(.counts(as: nil))]
    stage.advance(by: .seconds(1))
    #expect(calls.map(\.result) == ["0", "x", .some(nil)])
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("only the one whose turn it was when time was up is late")
  func lateOnce() {
    let incidents = Recorder<String>()
    let stage = Stage { $0.onIncident = { incidents.record($0.subscriber) } }
    let probes = stage.cast(3)
    let nodes = probes.map { stage.hub.subscribe($0, to: Listener.self).node }
    let gate = Gate()
    let call = stage.start { hub in
      await hub[Listener.self].pass(0, within: .seconds(1), absent: .abstains) {
        if $0.name == "1" { await gate.pass() }
        return $1 + 1
      }
    }
    stage.advance(by: .seconds(1))
    #expect(call.result == 1)
    #expect(nodes.map(\.questions.late) == [0, 1, 0])
    stage.open(gate)
    #expect(incidents.history.count == 1)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("if time is up between two turns, the next one that is there is late, and nobody else")
  func lateBetweenTurns() {
    let stage = Stage { $0.onIncident = { _ in } }
    let own = ManualExecutor()
    let probes = Probe.many(4)
    let nodes = probes.map {
      stage.hub.subscribe($0, to: Listener.self, on: $0.name == "0" ? own : nil).node
    }
    let call = stage.start { hub in
      await hub[Listener.self].pass("", within: .seconds(1), absent: .counts(as: "late")) {
        $1 + $0.name
      }
    }
    // The first one has answered, and the caller has not gone on.
    own.run()
    stage.hub.unsubscribe(probes[1])
    stage.advance(by: .seconds(1))
    #expect(call.result == "late")
    #expect(nodes.map(\.questions.answered) == [1, 0, 0, 0])
    #expect(nodes.map(\.questions.late) == [0, 0, 1, 0])
  }

  // MARK: With a deadline for each

  @Test("each has its own deadline: one that is late is passed over, and the next one is asked")
  func each() {
    let incidents = Recorder<DelegateHub.Incident.Kind>()
    let stage = Stage { $0.onIncident = { incidents.record($0.kind) } }
    let probes = stage.cast(4)
    let gate = Gate()
    let cancelled = Recorder<Bool>()
    let answer: @Sendable (any Listener) async -> Void = { probe in
      probe.log.record(1)
      if ["0", "2"].contains(probe.name) {
        await gate.pass()
        cancelled.record(Task.isCancelled)
      }
    }
    let asked = stage.start { hub in
      await hub[Listener.self].askInTurn(eachWithin: .seconds(1), absent: .abstains) { probe in
        await answer(probe)
        return probe.name == "3" ? probe.name : nil
      }
    }
    let passed = stage.start { hub in
      await hub[Listener.self].pass("", eachWithin: .seconds(1), absent: .abstains) {
        probe, text in
        await answer(probe)
        return text + probe.name
      }
    }
    stage.run()
    stage.advance(by: .milliseconds(999))
    #expect(probes.map(\.log.history.count) == [2, 0, 0, 0])
    stage.advance(by: .milliseconds(1))
    #expect(probes.map(\.log.history.count) == [2, 2, 2, 0])
    #expect(asked.result == nil && passed.result == nil)
    stage.advance(by: .seconds(1))
    #expect(asked.result == "3")
    #expect(passed.result == "13")
    stage.open(gate)
    #expect(cancelled.history == [true, true, true, true])
    #expect(incidents.history == [.late, .late, .late, .late])
    #expect(stage.alarms == 0)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("one that is late counts as absent says")
  func eachCounted() {
    let probes = stage.cast(3)
    let gate = Gate()
    func ask(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].askInTurn(eachWithin: .seconds(1), absent: absence) { probe in
          if probe.name == "0" { await gate.pass() }
          return probe.name
        }
      }
    }
    func pass(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].pass("", eachWithin: .seconds(1), absent: absence) {
          probe, text in
          if probe.name == "1" { await gate.pass() }
          return text + probe.name
        }
      }
    }
    let asked = [ask(.abstains), ask(.counts(as: nil)), ask(.counts(as: "absent"))]
    let passed = [pass(.abstains), pass(.counts(as: "x")), pass(.counts(as: nil))]
    stage.advance(by: .seconds(1))
    #expect(asked.map(\.result) == ["1", "1", "absent"])
    #expect(passed.map(\.result) == ["02", "x2", .some(nil)])
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("with both deadlines, whichever comes first: that of the whole call ends it")
  func both() {
    let probes = stage.cast(4)
    let gate = Gate()
    let call = stage.start { hub in
      await hub[Listener.self].pass(
        "", within: .milliseconds(2500), eachWithin: .seconds(1), absent: .counts(as: "late")
      ) { probe, text in
        probe.log.record(1)
        await gate.pass()
        return text + probe.name
      }
    }
    for count in 1...3 {
      #expect(probes.map(\.log.history.count).reduce(0, +) == count)
      if count < 3 { stage.advance(by: .seconds(1)) }
    }
    stage.advance(by: .milliseconds(499))
    #expect(call.result == nil)
    stage.advance(by: .milliseconds(1))
    #expect(call.result == "late")
    #expect(probes.map(\.log.history.count) == [1, 1, 1, 0])
    stage.open(gate)
  }

  @Test("with zero for each nobody is asked, and each counts as absent says")
  func eachZero() {
    let probes = stage.cast(2)
    let passed = stage.perform { hub in
      await hub[Listener.self].pass("v", eachWithin: .zero, absent: .counts(as: "absent"))
      { $1 + $0.name }
    }
    let asked = stage.perform { hub in
      await hub[Listener.self].askInTurn(eachWithin: .zero, absent: .abstains) { $0.name }
    }
    #expect(passed == "absent")
    #expect(asked == .some(nil))
    withExtendedLifetime(probes) {}
  }

  @Test("one whose executor stands still is passed over in its time, and never asked after that")
  func eachStuck() {
    let stuck = ManualExecutor()
    let probes = Probe.many(2)
    stage.hub.subscribe(probes[0], to: Listener.self, on: stuck)
    stage.hub.subscribe(probes[1], to: Listener.self)
    let call = stage.start { hub in
      await hub[Listener.self].askInTurn(eachWithin: .seconds(1), absent: .abstains) { probe in
        probe.log.record(1)
        return probe.name
      }
    }
    #expect(call.result == nil)
    stage.advance(by: .seconds(1))
    #expect(call.result == "1")
    stuck.run()
    #expect(probes.map(\.log.history) == [[], [1]])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("with zero nobody is asked; nobody to ask is nobody late")
  func zero() {
    func ask() -> String?? {
      stage.perform { hub in
        await hub[Listener.self].askInTurn(within: .zero, absent: .counts(as: "absent")) { $0.name }
      }
    }
    func pass() -> String?? {
      stage.perform { hub in
        await hub[Listener.self].pass("v", within: .zero, absent: .counts(as: "absent")) {
          $1 + $0.name
        }
      }
    }
    #expect(ask() == .some(nil))
    #expect(pass() == "v")
    let probes = stage.cast(1)
    #expect(ask() == "absent")
    #expect(pass() == "absent")
    #expect(probes[0].log.history == [])
  }

  @Test("those that are removed or have died are skipped, and are not late")
  func notThere() {
    var probes = stage.cast(4)
    let gate = Gate()
    let call = stage.start { hub in
      await hub[Listener.self].pass("", within: .seconds(1), absent: .counts(as: "late")) {
        if $0.name == "0" { await gate.pass() }
        return $1 + $0.name
      }
    }
    stage.hub.unsubscribe(probes[1])
    probes.removeSubrange(1...2)
    stage.open(gate)
    #expect(call.result == "03")
  }

  @Test(
    "one that is removed or dies while its executor does not run is skipped, and is not late",
    arguments: Guarantee10LateTests.Fate.allCases)
  func goneMeanwhile(fate: Guarantee10LateTests.Fate) {
    let incidents = Recorder<DelegateHub.Incident.Kind>()
    let stage = Stage { $0.onIncident = { incidents.record($0.kind) } }
    let stuck = ManualExecutor()
    let called = Recorder<String>()
    var there: Probe? = Probe("there")
    let subscription = there.map { stage.hub.subscribe($0, to: Listener.self, on: stuck) }
    let ask = stage.start { hub in
      await hub[Listener.self].askInTurn(within: .seconds(1), absent: .counts(as: "late")) {
        called.record("asked")
        return $0.name
      }
    }
    let pass = stage.start { hub in
      await hub[Listener.self].pass("v", within: .seconds(1), absent: .counts(as: "late"))
      {
        called.record("passed")
        return $1 + $0.name
      }
    }
    switch fate {
    case .stays: break
    case .isCancelled: subscription?.cancel()
    case .isUnsubscribed: if let there { stage.hub.unsubscribe(there) }
    case .dies: there = nil
    }
    stage.advance(by: .seconds(1))
    let isLate = fate == .stays
    #expect(ask.result == .some(isLate ? "late" : nil))
    #expect(pass.result == (isLate ? "late" : "v"))
    #expect(incidents.history == (isLate ? [.late, .late] : []))
    // At the deadline nobody further is asked, and that one was not asked before.
    stuck.run()
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(called.history == [])
    withExtendedLifetime(there) {}
  }

  @Test("one that its executor has begun to ask is late, though it was removed since")
  func goneAfterwards() {
    let own = ManualExecutor()
    let probe = Probe()
    let gate = Gate()
    let subscription = stage.hub.subscribe(probe, to: Listener.self, on: own)
    let call = stage.start { hub in
      await hub[Listener.self].askInTurn(within: .seconds(1), absent: .counts(as: "late")) {
        await gate.pass()
        return $0.name
      }
    }
    own.run()
    subscription.cancel()
    stage.advance(by: .seconds(1))
    #expect(call.result == "late")
    gate.open()
    own.run()
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    withExtendedLifetime(probe) {}
  }

  @Test(
    "cancelling the caller cancels the handler, and those after it; the call ends when they have answered"
  )
  func cancelledCaller() {
    let probes = stage.cast(2)
    let gate = Gate()
    let call = stage.start { hub in
      await hub[Listener.self].pass("", within: .seconds(1), absent: .abstains) {
        probe, text in
        if probe.name == "0" { await gate.pass() }
        return text + probe.name + (Task.isCancelled ? "!" : "")
      }
    }
    call.cancel()
    stage.run()
    #expect(call.result == nil)
    stage.open(gate)
    #expect(call.result == "0!1!")
    withExtendedLifetime(probes) {}
  }

  @Test("a handler that blocks its thread does not keep the caller past the deadline")
  func blocked() async {
    let hub = DelegateHub()
    let queue = MarkedQueue.make("blocked")
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self, on: queue)
    queue.suspend()
    let answer = await hub[Listener.self].askInTurn(within: .milliseconds(20), absent: .counts(as: 1)
    ) {
      _ in 2
    }
    #expect(answer == 1)
    queue.resume()
    await hub.drain()
  }
}

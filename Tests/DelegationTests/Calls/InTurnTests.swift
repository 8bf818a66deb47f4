import Delegation
import Testing

/// The two calls that ask one after another, with what they share.
@Suite("askInTurn and pass", .inTurn)
struct InTurnTests {
  private let stage = Stage { $0.onIncident = { _ in } }

  // MARK: In turn

  @Test(
    "each is asked when the one before has returned, in the order of priorities",
    arguments: [nil, Duration.seconds(1)])
  func oneAfterAnother(duration: Duration?) {
    let gates = (0..<4).map { _ in Gate() }
    let events = Recorder<String>()
    let probes = Probe.many(4)
    for (probe, priority) in zip(probes, [0, 5, -1, 5]) {
      stage.hub.subscribe(probe, to: Listener.self, priority: priority)
    }
    let handle: @Sendable (any Listener) async -> Void = { probe in
      events.record("\(probe.name) begins")
      await gates[Int(probe.name)!].pass()
      events.record("\(probe.name) ends")
    }
    let first = stage.start { hub in
      if let duration {
        return await hub[Listener.self].askInTurn(within: duration, absent: .abstains) {
          await handle($0)
          return nil as Int?
        }
      }
      return await hub[Listener.self].askInTurn {
        await handle($0)
        return nil as Int?
      }
    }
    // The gates of those to come are open already: nobody is ahead of its turn all the same.
    for number in [0, 2, 3] { stage.open(gates[number]) }
    #expect(events.history == ["1 begins"])
    #expect(first.result == nil)
    stage.open(gates[1])
    let order = ["1", "3", "0", "2"].flatMap { ["\($0) begins", "\($0) ends"] }
    #expect(events.clear() == order)
    #expect(first.result == .some(nil))
    let pass = stage.perform { hub in
      if let duration {
        return await hub[Listener.self].pass("", within: duration, absent: .abstains) {
          await handle($0)
          return $1 + $0.name
        }
      }
      return await hub[Listener.self].pass("") {
        await handle($0)
        return $1 + $0.name
      }
    }
    #expect(events.history == order)
    #expect(pass == "1302")
    withExtendedLifetime(probes) {}
  }

  @Test(
    "never are two asked at once, on the pool and on executors of their own", arguments: [1, 2, 100])
  func neverTwo(count: Int) async {
    let hub = DelegateHub()
    let probes = Probe.many(count)
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, on: number.isMultiple(of: 3) ? own : nil)
    }
    let events = Recorder<String>()
    let handle: @Sendable (any Listener) async -> Void = { probe in
      events.record("\(probe.name) begins")
      await Task.yield()
      events.record("\(probe.name) ends")
    }
    let all = hub[Listener.self]
    for isTimed in [false, true] {
      let answer =
        isTimed
        ? await all.askInTurn(within: .seconds(600), absent: .abstains) {
          await handle($0)
          return nil as Int?
        }
        : await all.askInTurn {
          await handle($0)
          return nil as Int?
        }
      #expect(answer == nil)
      #expect(events.clear() == probes.flatMap { ["\($0.name) begins", "\($0.name) ends"] })
      let passed =
        isTimed
        ? await all.pass("", eachWithin: .seconds(600), absent: .abstains) {
          await handle($0)
          return $1 + $0.name
        }
        : await all.pass("") {
          await handle($0)
          return $1 + $0.name
        }
      #expect(passed == probes.map(\.name).joined())
      #expect(events.clear() == probes.flatMap { ["\($0.name) begins", "\($0.name) ends"] })
    }
  }

  @Test("an answer, or a nil of pass, ends it, and nobody after is asked", arguments: 0..<5)
  func stops(place: Int) {
    let probes = stage.cast(5)
    let calls: [@Sendable (Delegates<any Listener>) async -> String] = [
      { all in
        await all.askInTurn { probe in
          probe.log.record(1)
          return Int(probe.name)! >= place ? "answer of \(probe.name)" : nil
        } ?? "none"
      },
      { all in
        await all.askInTurn(within: .seconds(1), absent: .abstains) { probe in
          probe.log.record(1)
          await Task.yield()
          return Int(probe.name)! >= place ? "answer of \(probe.name)" : nil
        } ?? "none"
      },
      { all in
        await all.pass("value") { probe, value in
          probe.log.record(1)
          return Int(probe.name)! == place ? nil : value
        } ?? "none"
      },
      { all in
        await all.pass("value", within: .seconds(1), absent: .abstains) { probe, value in
          probe.log.record(1)
          await Task.yield()
          return Int(probe.name)! == place ? nil : value
        } ?? "none"
      },
    ]
    for (number, call) in calls.enumerated() {
      let answer = stage.perform { await call($0[Listener.self]) }
      #expect(answer == (number < 2 ? "answer of \(place)" : "none"))
      let counts = probes.map(\.log.history.count)
      #expect(counts == (0..<5).map { $0 <= place ? number + 1 : 0 })
    }
  }

  @Test("each gets what the one before returned; an optional value may be passed, and its nil is no stop")
  func handedOn() {
    let got = Recorder<String>()
    let probes = stage.cast(4)
    let value = stage.perform { hub in
      await hub[Listener.self].pass("value") { probe, value in
        got.record(value)
        return probe.name == "2" ? value : value + " " + probe.name
      }
    }
    #expect(value == "value 0 1 3")
    #expect(got.history == ["value", "value 0", "value 0 1", "value 0 1"])
    let optional = stage.perform { hub in
      await hub[Listener.self].pass(Int?.some(1)) { probe, value -> Int?? in
        probe.name == "0" ? .some(nil) : .some(value == nil ? 7 : 8)
      }
    }
    #expect(optional == 8)
    withExtendedLifetime(probes) {}
  }

  @Test("those who die or are removed on the way are skipped, those who come on it not asked")
  func changesOnTheWay() {
    let gate = Gate()
    let probes = stage.cast(2)
    var mortal: Probe? = Probe("mortal")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    let (last, newcomer) = (Probe("last"), Probe("newcomer"))
    stage.hub.subscribe(last, to: Listener.self)
    let calls = [
      stage.start { hub in
        await hub[Listener.self].pass("value") { probe, value in
          await gate.pass()
          return value + " " + probe.name
        }
      },
      stage.start { hub in
        await hub[Listener.self].pass("value", within: .seconds(1), absent: .counts(as: "late")) {
          probe, value in
          await gate.pass()
          return value + " " + probe.name
        }
      },
    ]
    stage.hub.unsubscribe(probes[1])
    mortal = nil
    stage.hub.subscribe(newcomer, to: Listener.self)
    stage.open(gate)
    #expect(calls.map(\.result) == ["value 0 last", "value 0 last"])
    withExtendedLifetime(last) {}
  }

  @Test("an error ends the call; an answer before it is the outcome")
  func errors() {
    let probes = stage.cast(3)
    let errors = stage.perform { hub in
      var errors: [String] = []
      do throws(Refusal) {
        _ = try await hub[Listener.self].pass("") { probe, value throws(Refusal) in
          probe.log.record(1)
          if probe.name == "1" { throw Refusal(reason: value) }
          return value + probe.name
        }
      } catch {
        errors.append(error.reason)
      }
      let answer = try? await hub[Listener.self].askInTurn { probe in
        if probe.name == "1" { throw Refusal() }
        return probe.name
      }
      return errors + [answer ?? "none"]
    }
    #expect(errors == ["0", "0"])
    #expect(probes.map(\.log.history) == [[1], [1], []])
  }

  @Test("handlers see when the caller is cancelled, and the call goes on")
  func cancelled() {
    let gate = Gate()
    let seen = Recorder<Bool>()
    let probes = stage.cast(3)
    let first = stage.start { hub in
      await hub[Listener.self].askInTurn { probe -> Int? in
        seen.record(Task.isCancelled)
        if probe.name == "1" { await gate.pass() }
        seen.record(Task.isCancelled)
        return nil
      }
    }
    let timed = stage.start { hub in
      await hub[Listener.self].pass([Bool](), within: .seconds(1), absent: .abstains) {
        probe, value in
        if probe.name == "1" { await gate.pass() }
        return value + [Task.isCancelled]
      }
    }
    for cancel in [first.cancel, timed.cancel] { cancel() }
    stage.run()
    #expect(seen.history == [false, false, false])
    stage.open(gate)
    #expect(seen.history == [false, false, false, true, true, true])
    #expect(first.result == .some(nil))
    #expect(timed.result == [false, true, true])
    withExtendedLifetime(probes) {}
  }

  @Test("a handler may drain, end its own subscription and wait, ask and pass")
  func reentrancy() {
    let (own, other) = (Probe("own"), Probe("other"))
    let subscription = stage.hub.subscribe(own, to: Listener.self)
    stage.hub.subscribe(other, to: Listener.self)
    let answer = stage.perform { hub in
      await hub[Listener.self].pass(["start"]) { probe, value -> [String]? in
        guard probe.name == "own" else { return value + [probe.name] }
        hub[Listener.self].notify { $0.log.record(7) }
        let drained = await hub.drain().subscribers.map(\.running) == [1]
        let voted = await hub[Listener.self].vote { await $0.log.history(of: 1) == [7] }
        await subscription.cancelAndWait()
        let inner = await hub[Listener.self].askInTurn { $0.name }
        let passed = await hub[Listener.self].pass("v") { $1 + $0.name }
        return value + ["\(drained)", "\(voted)", inner ?? "", passed ?? ""]
      }
    }
    #expect(answer == ["start", "true", "true", "other", "vother", "other"])
    #expect(own.log.history == [7])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("what a handler held is released when the value has moved on")
  func release() {
    let (lifetimes, alive) = (Lifetimes(), Recorder<Int>())
    let probes = stage.cast(3)
    let last = stage.perform { hub in
      await hub[Listener.self].pass(lifetimes.make()) { _, _ in
        alive.record(lifetimes.alive)
        return lifetimes.make()
      } != nil
    }
    #expect(last == true)
    // The one in hand, and the one passed in if the caller still holds it.
    #expect(alive.history.allSatisfy { $0 <= 2 }, "\(alive.history)")
    #expect(lifetimes.alive == 0)
    withExtendedLifetime(probes) {}
  }

  @Test("a call that waits for the hub's executor is seen by a drain, and one that reaches nobody does not need it")
  func standstill() async {
    let executor = ManualExecutor()
    let hub = DelegateHub(.init(executor: executor))
    #expect(await hub[Listener.self].pass(1) { _, value in value + 1 } == 1)
    #expect(await hub[Listener.self].askInTurn { _ -> Int? in 1 } == nil)
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let results = Recorder<Int?>()
    let call = Task {
      results.record(await hub[Listener.self].pass(1) { $1 + $0.name.count })
    }
    while executor.pendingJobs == 0 { await Task.yield() }
    #expect(await hub.drain(within: .zero).description == "the hub's own work: 1")
    // The hub itself does not stand still: another question meets its deadline.
    #expect(
      await hub[Listener.self].vote(within: .milliseconds(10), absent: .counts(as: false)) { _ in
        true
      } == false)
    while results.count == 0 {
      executor.run()
      await Task.yield()
    }
    await call.value
    #expect(results.history == [6])
    executor.run()
    #expect(await hub.drain(within: .zero).isEmpty)
    withExtendedLifetime(probe) {}
  }

  // MARK: Who is absent

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
    func pass(_ absence: DelegateHub.Absence<String?>) -> String?? {
      stage.perform { hub in
        await hub[Listener.self].pass("", absent: absence) { probe, text in
          if probe.name == "1" { throw Refusal() }
          return text + probe.name
        }
      }
    }
    #expect([.abstains, .counts(as: nil), .counts(as: "absent")].map(ask) == ["1", "1", "absent"])
    #expect([.abstains, .counts(as: "x"), .counts(as: nil)].map(pass) == ["02", "x2", .some(nil)])
    withExtendedLifetime(probes) {}
  }

  @Test("at the deadline nobody further is asked; the one that runs is cancelled, late, and not waited for")
  func late() {
    let probes = Probe.many(3)
    let subscriptions = probes.map { stage.hub.subscribe($0, to: Listener.self) }
    let (gate, cancelled) = (Gate(), Recorder<Bool>())
    let handle: @Sendable (any Listener) async -> Void = { probe in
      probe.log.record(1)
      guard probe.name == "1" else { return }
      await gate.pass()
      cancelled.record(Task.isCancelled)
    }
    func ask(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].askInTurn(within: .seconds(1), absent: absence) {
          await handle($0)
          return $0.name == "1" ? "late" : nil
        }
      }
    }
    func pass(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].pass("", within: .seconds(1), absent: absence) {
          await handle($0)
          return $1 + $0.name
        }
      }
    }
    let calls =
      [.abstains, .counts(as: "absent")].map(ask)
      + [.abstains, .counts(as: "x"), .counts(as: nil)].map(pass)
    #expect(calls.allSatisfy { $0.result == nil })
    stage.advance(by: .seconds(1))
    #expect(calls.map(\.result) == [.some(nil), "absent", "0", "x", .some(nil)])
    stage.open(gate)
    #expect(cancelled.history == Array(repeating: true, count: 5))
    #expect(probes.map(\.log.history.count) == [5, 5, 0])
    #expect(subscriptions.map(\.statistics.questions.late) == [0, 5, 0])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("each has its own deadline: one that is late is passed over, or counts, and the next one is asked")
  func each() {
    let incidents = Recorder<DelegateHub.Incident.Kind>()
    let stage = Stage { $0.onIncident = { incidents.record($0.kind) } }
    let probes = stage.cast(4)
    let gate = Gate()
    let handle: @Sendable (any Listener) async -> Void = { probe in
      probe.log.record(1)
      if ["0", "2"].contains(probe.name) { await gate.pass() }
    }
    func ask(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].askInTurn(eachWithin: .seconds(1), absent: absence) { probe in
          await handle(probe)
          return probe.name == "3" ? probe.name : nil
        }
      }
    }
    func pass(_ absence: DelegateHub.Absence<String?>) -> Stage.Act<String?> {
      stage.start { hub in
        await hub[Listener.self].pass("", eachWithin: .seconds(1), absent: absence) {
          probe, text in
          await handle(probe)
          return text + probe.name
        }
      }
    }
    let calls =
      [.abstains, .counts(as: nil), .counts(as: "absent")].map(ask)
      + [.abstains, .counts(as: "x"), .counts(as: nil)].map(pass)
    stage.advance(by: .milliseconds(999))
    #expect(probes.map(\.log.history.count) == [6, 0, 0, 0])
    stage.advance(by: .milliseconds(1))
    #expect(calls.map(\.result) == [nil, nil, "absent", nil, nil, .some(nil)])
    stage.advance(by: .seconds(1))
    #expect(calls.map(\.result) == ["3", "3", "absent", "13", "x3", .some(nil)])
    stage.open(gate)
    #expect(incidents.history.allSatisfy { $0 == .late })
    #expect(incidents.history.count == 10)
    #expect(stage.clock.sleepers == 0)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
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

  @Test("with zero nobody is asked; nobody to ask is nobody late")
  func zero() {
    func calls() -> [String?] {
      stage.perform { hub in
        let all = hub[Listener.self]
        return [
          await all.askInTurn(within: .zero, absent: .counts(as: "absent")) { $0.name },
          await all.pass("v", within: .zero, absent: .counts(as: "absent")) { $1 + $0.name },
          await all.pass("v", eachWithin: .zero, absent: .counts(as: "absent")) { $1 + $0.name },
          await all.askInTurn(eachWithin: .zero, absent: .abstains) { $0.name },
        ]
      } ?? []
    }
    #expect(calls() == [nil, "v", "v", nil])
    let probes = stage.cast(2)
    #expect(calls() == ["absent", "absent", "absent", nil])
    #expect(probes.flatMap(\.log.history) == [])
  }

  /// What becomes of one whose executor does not run.
  enum Fate: CaseIterable { case stays, isCancelled, isUnsubscribed, dies, begins }

  @Test(
    "one whose executor stands still is passed over in its time and never asked; gone meanwhile it is not late",
    arguments: Fate.allCases)
  func stuck(fate: Fate) {
    let incidents = Recorder<DelegateHub.Incident.Kind>()
    let stage = Stage { $0.onIncident = { incidents.record($0.kind) } }
    let (stuck, gate, called) = (ManualExecutor(), Gate(), Recorder<String>())
    var there: Probe? = Probe("there")
    let subscription = there.map { stage.hub.subscribe($0, to: Listener.self, on: stuck) }
    let ask = stage.start { hub in
      await hub[Listener.self].askInTurn(within: .seconds(1), absent: .counts(as: "late")) {
        called.record("asked")
        await gate.pass()
        return $0.name
      }
    }
    let pass = stage.start { hub in
      await hub[Listener.self].pass("v", eachWithin: .seconds(1), absent: .counts(as: "late")) {
        called.record("passed")
        await gate.pass()
        return $1 + $0.name
      }
    }
    switch fate {
    case .stays: break
    case .isCancelled: subscription?.cancel()
    case .isUnsubscribed: if let there { stage.hub.unsubscribe(there) }
    case .dies: there = nil
    case .begins:
      stuck.run()
      subscription?.cancel()
    }
    stage.advance(by: .seconds(1))
    let isLate = fate == .stays
    #expect(ask.result == .some(isLate ? "late" : nil))
    #expect(pass.result == (isLate ? "late" : "v"))
    #expect(incidents.history.filter { $0 == .late } == (isLate ? [.late, .late] : []))
    gate.open()
    stuck.run()
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(called.history.sorted() == (fate == .begins ? ["asked", "passed"] : []))
    withExtendedLifetime(there) {}
  }

  @Test("if time is up between two turns, nobody further is asked, and the call is late")
  func lateBetweenTurns() {
    let own = ManualExecutor()
    let probes = Probe.many(4)
    let subscriptions = probes.map {
      stage.hub.subscribe($0, to: Listener.self, on: $0.name == "0" ? own : nil)
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
    #expect(subscriptions.map(\.statistics.questions.answered) == [1, 0, 0, 0])
    #expect(subscriptions.map(\.statistics.questions.asked) == [1, 0, 0, 0])
  }
}

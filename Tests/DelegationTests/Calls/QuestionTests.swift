import Delegation
import Testing

@Suite("vote and ask", .inTurn)
struct QuestionTests {
  // MARK: Forms of the closure

  @Test(
    "one that awaits nothing is called in the caller's task, one after another, to the decision")
  func inPlace() async {
    let hub = DelegateHub()
    let probes = Probe.many(4)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let (tasks, called) = (Recorder<Int?>(), Recorder<String>())
    tasks.record(withUnsafeCurrentTask { $0?.hashValue })
    let isAgreed = await hub[Listener.self].vote {
      called.record($0.name)
      tasks.record(withUnsafeCurrentTask { $0?.hashValue })
      return $0.name != "2"
    }
    #expect(!isAgreed)
    #expect(called.history == ["0", "1", "2"])
    #expect(Set(tasks.history).count == 1)
    withExtendedLifetime(probes) {}
  }

  @Test(
    "one that awaits is called side by side, and its answers come in the order of the subscribers")
  func sideBySide() {
    let stage = Stage()
    let gates = (0..<5).map { _ in Gate() }
    let answered = Recorder<String>()
    let probes = stage.cast(5)
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all()) { probe in
        await gates[Int(probe.name)!].pass()
        answered.record(probe.name)
        return probe.name
      }
    }
    #expect(gates.map(\.arrived) == [1, 1, 1, 1, 1])
    for gate in gates.reversed() {
      #expect(ask.result == nil)
      stage.open(gate)
    }
    #expect(answered.history == ["4", "3", "2", "1", "0"])
    #expect(ask.result == ["0", "1", "2", "3", "4"])
    withExtendedLifetime(probes) {}
  }

  @Test("what a closure throws keeps its type, in every form; one that throws nothing needs no try")
  func typedThrows() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let caught = Recorder<String>()
    func expect(_ place: String, _ body: () async throws(Refusal) -> Void) async {
      do throws(Refusal) {
        try await body()
        Issue.record("it did not throw: \(place)")
      } catch {
        caught.record(error.reason)
      }
    }
    for all in [hub[Listener.self], hub[Listener.self].conforming(to: Listener.self)] {
      await expect("vote") { () throws(Refusal) in
        _ = try await all.vote { _ throws(Refusal) in throw Refusal(reason: "vote") }
      }
      await expect("awaiting vote") { () throws(Refusal) in
        _ = try await all.vote { _ async throws(Refusal) in
          await Task.yield()
          throw Refusal(reason: "awaiting vote")
        }
      }
      await expect("main vote") { () throws(Refusal) in
        _ = try await all.vote { @MainActor _ throws(Refusal) in throw Refusal(reason: "main vote")
        }
      }
      await expect("ask") { () throws(Refusal) in
        _ = try await all.ask(combining: .sum()) { _ throws(Refusal) -> Int in
          throw Refusal(reason: "ask")
        }
      }
      await expect("awaiting ask") { () throws(Refusal) in
        _ = try await all.ask(combining: .sum()) { _ async throws(Refusal) -> Int in
          await Task.yield()
          throw Refusal(reason: "awaiting ask")
        }
      }
      await expect("in turn") { () throws(Refusal) in
        _ = try await all.askInTurn { _ async throws(Refusal) -> Int? in
          throw Refusal(reason: "in turn")
        }
      }
      await expect("pass") { () throws(Refusal) in
        _ = try await all.pass(1) { _, _ async throws(Refusal) -> Int? in
          throw Refusal(reason: "pass")
        }
      }
    }
    let places = [
      "vote", "awaiting vote", "main vote", "ask", "awaiting ask", "in turn", "pass",
    ]
    #expect(caught.history == places + places)
  }

  // MARK: Rules and combiners

  @Test("each rule decides as it says", arguments: 0...3)
  func rules(yes: Int) async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let rules: [(rule: BooleanRule, isAgreed: Bool)] = [
      (.unanimous, yes == 3), (.anyone, yes > 0), (.nobody, yes == 0), (.majority, yes > 1),
      (.atLeast(2), yes >= 2), (.unanimous(ofAtLeast: 3), yes == 3),
      (.unanimous(ofAtLeast: 4), false), (.nobody(ofAtLeast: 3), yes == 0),
      (.nobody(ofAtLeast: 4), false),
    ]
    for (rule, isAgreed) in rules {
      let votes = [
        await hub[Listener.self].vote(by: rule) { Int($0.name)! < yes },
        await hub[Listener.self].vote(by: rule) { probe in
          await Task.yield()
          return Int(probe.name)! < yes
        },
        await hub[Listener.self].vote(by: rule) { @MainActor in Int($0.name)! < yes },
        await hub[Listener.self].vote(by: rule, within: .seconds(600), absent: .abstains) {
          Int($0.name)! < yes
        },
      ]
      #expect(votes == Array(repeating: isAgreed, count: 4), "\(rule) of \(yes)")
    }
    withExtendedLifetime(probes) {}
  }

  /// Notes what it hears.
  private struct Noting: Combiner {
    var heard: [String] = []
    mutating func begin(asking count: Int) -> [String]? {
      heard.append("asking \(count)")
      return nil
    }
    mutating func receive(_ response: String, from position: Int) -> [String]? {
      heard.append("\(response) from \(position)")
      return response == "stop" ? heard : nil
    }
    mutating func receiveNothing(from position: Int) -> [String]? {
      heard.append("none from \(position)")
      return nil
    }
    mutating func finish() -> [String] { heard + ["finished"] }
  }

  @Test(
    "combiners make one value of the answers; one of one's own hears how many there are and who is absent"
  )
  func combiners() async {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let all = hub[Listener.self]
    #expect(await all.ask(combining: .sum()) { Int($0.name)! } == 3)
    #expect(await all.ask(combining: .all()) { $0.name } == ["0", "1", "2"])
    #expect(await all.ask(combining: .first()) { $0.name } == "0")
    #expect(await all.ask(combining: .firstNonNil()) { $0.name == "1" ? $0.name : nil } == "1")
    #expect(await all.ask(combining: .reduce("", +)) { $0.name } == "012")
    #expect(
      await all.ask(combining: Noting()) { $0.name } == [
        "asking 3", "0 from 0", "1 from 1", "2 from 2", "finished",
      ])
    #expect(
      await all.ask(combining: Noting()) { $0.name == "1" ? "stop" : $0.name } == [
        "asking 3", "0 from 0", "stop from 1",
      ])
    let absent = await all.ask(combining: Noting(), absent: .abstains) { probe in
      if probe.name == "1" { throw Refusal() }
      return probe.name
    }
    // Asked apart, they may answer in any order.
    #expect(absent.sorted() == ["0 from 0", "2 from 2", "asking 3", "finished", "none from 1"])
    let counted = await all.ask(combining: Noting(), absent: .counts(as: "none")) { probe in
      if probe.name == "1" { throw Refusal() }
      return probe.name
    }
    #expect(counted.sorted() == absent.sorted())
    withExtendedLifetime(probes) {}
  }

  // MARK: Who is absent

  @Test("at the deadline who has not answered counts as absent says", arguments: [1, 3])
  func late(count: Int) {
    let stage = Stage { $0.onIncident = { _ in } }
    let gate = Gate()
    let probes = stage.cast(count)
    func vote(_ absence: DelegateHub.Absence<Bool>) -> Stage.Act<Bool> {
      stage.start { hub in
        await hub[Listener.self].vote(within: .seconds(1), absent: absence) { probe in
          if probe.name == "0" { await gate.pass() }
          return true
        }
      }
    }
    let calls = [vote(.abstains), vote(.counts(as: true)), vote(.counts(as: false))]
    let ask = stage.start { hub in
      await hub[Listener.self].ask(
        combining: .all(), within: .seconds(1), absent: .counts(as: "late")
      ) { probe in
        if probe.name == "0" { await gate.pass() }
        return probe.name
      }
    }
    #expect(calls.allSatisfy { $0.result == nil })
    stage.advance(by: .seconds(1))
    #expect(calls.map(\.result) == [true, true, false])
    #expect(ask.result == ["late", "1", "2"].prefix(count).map(\.self))
    stage.open(gate)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    withExtendedLifetime(probes) {}
  }

  @Test(
    "who is removed, dies or does not conform while its actor or executor is busy was not asked: neither late nor counted",
    arguments: [false, true], ["removed", "dead", "not conforming"])
  @MainActor
  func goneBeforeItsTurn(isOnExecutor: Bool, fate: String) async {
    let clock = ManualClock()
    let incidents = Recorder<String>()
    let hub = DelegateHub(
      .init(
        clock: clock,
        onIncident: { if $0.kind == .late { incidents.record($0.description) } }))
    let stuck = ManualExecutor()
    var gone: Probe? = Probe("gone")
    let subscription = hub.subscribe(
      gone!, to: Bystander.self, on: isOnExecutor ? stuck : nil)
    let others = Recorder<String>()
    let call = Task.detached {
      let delegates =
        fate == "not conforming"
        ? hub[Bystander.self].conforming(to: (any Bystander & Error).self) : nil
      if let delegates {
        return await [
          delegates.vote(
            by: .atLeast(1), within: .seconds(1), absent: .counts(as: true)
          ) { @MainActor _ in true },
          !delegates.collect(within: .seconds(1)) { @MainActor _ in 1 }.isEmpty,
        ]
      }
      let all = hub[Bystander.self]
      if isOnExecutor {
        return await [
          all.vote(by: .atLeast(1), within: .seconds(1), absent: .counts(as: true)) { _ in true }
        ]
      }
      return await [
        all.vote(by: .atLeast(1), within: .seconds(1), absent: .counts(as: true)) {
          @MainActor in
          others.record($0.name)
          return true
        }
      ]
    }
    if fate != "not conforming" {
      // The main actor is here, and the other executor stands still: the question is on its way.
      while clock.sleepers == 0 { Threads.pause() }
      if fate == "removed" { subscription.cancel() } else { gone = nil }
      clock.advance(by: .seconds(1))
    }
    let results = await call.value
    #expect(results.allSatisfy { !$0 })
    // A worker that has come to it finds that it is gone; one that waits for the other executor is still there.
    _ = isOnExecutor ? await hub.drain(within: .zero) : await hub.drain()
    #expect(incidents.history == [])
    #expect(others.history == [])
    #expect(subscription.statistics.questions.description == asked())
    stuck.run()
    withExtendedLifetime(gone) {}
  }
}

import Delegation
import Testing

@Suite("vote and ask", .inTurn)
struct QuestionTests {
  @Test("one that awaits nothing is called in the caller's task, in turn, to the decision")
  func inPlace() async {
    let hub = DelegateHub()
    hub.cast(4)
    let (tasks, called) = (Recorder<Int?>(), Recorder<String>())
    tasks.record(withUnsafeCurrentTask { $0?.hashValue })
    let isAgreed = await hub[Listener.self].vote {
      called.record($0.name)
      tasks.record(withUnsafeCurrentTask { $0?.hashValue })
      return $0.name != "2"
    }
    #expect(!isAgreed && called.history == ["0", "1", "2"] && Set(tasks.history).count == 1)
  }

  @Test("what a closure throws keeps its type, in every form; one that throws nothing needs no try")
  func typedThrows() async {
    let (hub, caught) = (DelegateHub(), Recorder<String>())
    hub.cast(1)
    func expect(_ place: String, _ body: (Refusal) async throws(Refusal) -> Void) async {
      do throws(Refusal) {
        try await body(Refusal(reason: place))
        Issue.record("it did not throw: \(place)")
      } catch {
        caught.record(error.reason)
      }
    }
    for all in [hub[Listener.self], hub[Listener.self].conforming(to: Listener.self)] {
      await expect("vote") { no throws(Refusal) in
        _ = try await all.vote { _ throws(Refusal) in throw no }
      }
      await expect("awaiting vote") { no throws(Refusal) in
        _ = try await all.vote { _ async throws(Refusal) in
          await Task.yield()
          throw no
        }
      }
      await expect("main vote") { no throws(Refusal) in
        _ = try await all.vote { @MainActor _ throws(Refusal) in throw no }
      }
      await expect("ask") { no throws(Refusal) in
        _ = try await all.ask(combining: .sum()) { _ throws(Refusal) -> Int in throw no }
      }
      await expect("awaiting ask") { no throws(Refusal) in
        _ = try await all.ask(combining: .sum()) { _ async throws(Refusal) -> Int in
          await Task.yield()
          throw no
        }
      }
      await expect("in turn") { no throws(Refusal) in
        _ = try await all.askInTurn { _ async throws(Refusal) -> Int? in throw no }
      }
      await expect("pass") { no throws(Refusal) in
        _ = try await all.pass(1) { _, _ async throws(Refusal) -> Int? in throw no }
      }
    }
    let places = ["vote", "awaiting vote", "main vote", "ask", "awaiting ask", "in turn", "pass"]
    #expect(caught.history == places + places)
  }

  @Test("each rule decides as it says", arguments: 0...3)
  func rules(yes: Int) async {
    let hub = DelegateHub()
    hub.cast(3)
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

  @Test("combiners make one value of the answers, and hear who is absent")
  func combiners() async {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    hub.cast(3)
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
    for absence in [DelegateHub.Absence.abstains, .counts(as: "none")] {
      let absent = await all.ask(combining: Noting(), absent: absence) { probe in
        if probe.name == "1" { throw Refusal() }
        return probe.name
      }
      // Asked apart, they may answer in any order.
      #expect(absent.sorted() == ["0 from 0", "2 from 2", "asking 3", "finished", "none from 1"])
    }
  }

  @Test(
    "handlers are cancelled in the order in which they were asked, whoever cancels",
    arguments: [nil, Duration.seconds(1)], [false, true])
  func cancellationOrder(limit: Duration?, isDecided: Bool) {
    let (stage, gate, cancelled) = (Stage(), Gate(), Recorder<Int>())
    stage.cast(9)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: limit, absent: .abstains) { probe in
        if isDecided, probe.name == "8" { return false }
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          cancelled.record(Int(probe.name)!)
        }
        return true
      }
    }
    if !isDecided { vote.cancel() }
    stage.run()
    #expect(cancelled.history == Array(0..<(isDecided ? 8 : 9)))
    #expect((vote.result == false) == isDecided)
    stage.open(gate)
  }
}

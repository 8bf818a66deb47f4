import Testing

@testable import Delegation

@Suite("Guarantee 10: deadline", .inTurn)
struct Guarantee10DeadlineTests {
  @Test(
    "a vote returns at its deadline though one never returns and ignores cancellation",
    arguments: [0, 5, 9])
  func voteAndHang(place: Int) {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(10)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .milliseconds(50), absent: .counts(as: false)) {
        probe in
        probe.log.record(1)
        if probe.name == "\(place)" { await gate.pass() }
        return true
      }
    }
    #expect(probes.map(\.log.history) == Array(repeating: [1], count: 10))
    stage.advance(by: .milliseconds(49))
    #expect(vote.result == nil)
    stage.advance(by: .milliseconds(1))
    #expect(vote.result == false)
    stage.open(gate)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("so does ask, with what has been answered by then", arguments: [0, 2, 4])
  func askAndHang(place: Int) {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(5)
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all(), within: .seconds(2), absent: .counts(as: "late")
      ) { probe in
        if probe.name == "\(place)" { await gate.pass() }
        return probe.name
      }
    }
    stage.advance(by: .milliseconds(1_999))
    #expect(ask.result == nil)
    stage.advance(by: .milliseconds(1))
    var expected = probes.map(\.name)
    expected[place] = "late"
    #expect(ask.result == expected)
    stage.open(gate)
  }

  @Test("so does collect", arguments: [0, 2, 4])
  func collectAndHang(place: Int) {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(5)
    let collect = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(2)) { probe in
        if probe.name == "\(place)" { await gate.pass() }
        return probe.name
      }.map { reply in (try? reply.result.get()) ?? "late" }
    }
    stage.advance(by: .milliseconds(1_999))
    #expect(collect.result == nil)
    stage.advance(by: .milliseconds(1))
    var expected = probes.map(\.name)
    expected[place] = "late"
    #expect(collect.result == expected)
    stage.open(gate)
  }

  @Test("calls at the same time have each their own deadline")
  func ownDeadlines() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(2)
    let votes = (1...3).map { seconds in
      stage.start { hub in
        await hub[Listener.self].vote(within: .seconds(seconds), absent: .abstains) { _ in
          await gate.pass()
          return true
        }
      }
    }
    let patient = stage.start { hub in
      await hub[Listener.self].vote(absent: .abstains) { _ in
        await gate.pass()
        return true
      }
    }
    for second in 1...3 {
      stage.advance(by: .seconds(1))
      #expect(votes.map { $0.result != nil } == (1...3).map { $0 <= second })
    }
    stage.advance(by: .seconds(1_000_000))
    #expect(patient.result == nil)
    stage.open(gate)
    #expect(patient.result == true)
    withExtendedLifetime(probes) {}
  }

  @Test("with a deadline of zero nobody is asked, and all count as late")
  func zero() {
    let stage = Stage()
    let probes = stage.cast(3)
    let answers = stage.perform { hub in
      [
        await hub[Listener.self].vote(within: .zero, absent: .counts(as: false)) { _ in true },
        await hub[Listener.self].vote(within: .zero, absent: .abstains) { _ in false },
        await hub[Listener.self].vote(by: .anyone, within: .zero, absent: .abstains) { _ in true },
      ]
    }
    #expect(answers == [false, true, false])
    let names = stage.perform { hub in
      await hub[Listener.self].ask(combining: .all(), within: .zero, absent: .counts(as: "late")
      ) { probe in
        probe.log.record(1)
        return probe.name
      }
    }
    #expect(names == ["late", "late", "late"])
    let replies = stage.perform { hub in
      await hub[Listener.self].collect(within: .zero) { $0.log.record(1) }
    }
    #expect(
      replies?.map { $0.error as? DelegateHub.ReplyError } == [.timedOut, .timedOut, .timedOut])
    #expect(probes.map(\.log.history) == [[], [], []])
    #expect(stage.alarms == 0)
  }

  @Test("nobody to ask and nothing to wait for: the call returns without a timer")
  func nobody() {
    let stage = Stage()
    let vote = stage.perform { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in true }
    }
    let replies = stage.perform { await $0[Listener.self].collect(within: .seconds(1)) { $0.name } }
    #expect(vote == true)
    #expect(replies?.isEmpty == true)
    #expect(stage.alarms == 0)
  }

  @Test("a call that is decided before its deadline leaves no timer behind")
  func timerIsCancelled() {
    let stage = Stage()
    let gates = [Gate(), Gate()]
    let probes = stage.cast(3)
    let early = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { probe in
        await gates[probe.name == "1" ? 0 : 1].pass()
        return probe.name != "1"
      }
    }
    let complete = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(2)) { _ in await gates[0].pass() }.count
    }
    #expect(stage.alarms == 2)
    #expect(early.result == nil)
    stage.open(gates[0])
    #expect(early.result == false)
    #expect(complete.result == 3)
    #expect(stage.alarms == 0)
    stage.open(gates[1])
    withExtendedLifetime(probes) {}
  }

  @Test("at the deadline the handlers that run are cancelled, and not before")
  func handlersAreCancelled() {
    let stage = Stage()
    let gate = Gate()
    let cancelled = Recorder<String>()
    let probes = stage.cast(3)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { probe in
        if probe.name == "0" { return true }
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          cancelled.record(probe.name)
        }
        return !Task.isCancelled
      }
    }
    stage.advance(by: .milliseconds(999))
    #expect(cancelled.history == [])
    stage.advance(by: .milliseconds(1))
    #expect(cancelled.history.sorted() == ["1", "2"])
    #expect(vote.result == true)
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("answers after the deadline change nothing, and no combiner hears of them")
  func answersAfterwards() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let heard = Recorder<String>()
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: Eavesdropper(heard: heard), within: .seconds(1),
        absent: .counts(as: 100)
      ) { probe in
        if probe.name != "1" { await gate.pass() }
        return Int(probe.name)!
      }
    }
    stage.advance(by: .seconds(1))
    let untilDeadline = ["3 asked", "1 from 1", "100 from 0", "100 from 2", "finished"]
    #expect(heard.history == untilDeadline)
    #expect(ask.result == 201)
    stage.open(gate)
    #expect(heard.history == untilDeadline)
    #expect(ask.result == 201)
    withExtendedLifetime(probes) {}
  }

  @Test("the late ones that abstain are missed once each")
  func abstaining() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let heard = Recorder<String>()
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: Eavesdropper(heard: heard), within: .seconds(1), absent: .abstains
      ) { probe in
        if probe.name == "0" { throw Refusal() }
        if probe.name == "2" { await gate.pass() }
        return 1
      }
    }
    stage.advance(by: .seconds(1))
    #expect(heard.history == ["3 asked", "0 missed", "1 from 1", "2 missed", "finished"])
    #expect(ask.result == 1)
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("drain waits for those who were late")
  func drainWaits() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in
        await gate.pass()
        return true
      }
    }
    stage.advance(by: .seconds(1))
    #expect(vote.result == true)
    let drain = stage.start { await $0.drain().isEmpty }
    stage.advance(by: .seconds(1))
    #expect(drain.result == nil)
    stage.open(gate)
    #expect(drain.result == true)
    withExtendedLifetime(probes) {}
  }
}

extension DelegateHub.Reply {
  /// The error, if it is one.
  var error: (any Error)? {
    if case .failure(let error) = result { error } else { nil }
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

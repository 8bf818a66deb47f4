import Testing

@testable import Delegation

@Suite("Incidents with context", .inTurn)
struct IncidentContextTests {
  /// What the hook was told, and in which task-locals.
  private let told = Recorder<String>()

  private func stage(slowAfter: Duration? = nil) -> Stage {
    Stage { [told] configuration in
      configuration.propagating = [.taskLocal(Label.$current)]
      configuration.slowAfter = slowAfter
      configuration.onIncident = { incident in
        let duration = incident.duration.map { " for \($0)" } ?? ""
        told.record("\(incident.kind) in \(incident.call)\(duration), \(Label.current)")
      }
    }
  }

  @Test("a failure is told in the task-locals of the post", arguments: [false, true])
  func failedNotification(isAsynchronous: Bool) {
    let stage = stage()
    let probes = stage.cast(1)
    for label in ["one", "two"] {
      Label.$current.withValue(label) {
        if isAsynchronous {
          stage.hub[Listener.self].notify() { _ in
            await Task.yield()
            throw Refusal()
          }
        } else {
          stage.hub[Listener.self].notify() { _ in throw Refusal() }
        }
      }
    }
    stage.run()
    #expect(told.history == ["failed in notify, one", "failed in notify, two"])
    withExtendedLifetime(probes) {}
  }

  @Test("also for those that conform to a further protocol, and within interceptors")
  func failedSpecially() async {
    let hub = DelegateHub {
      $0.propagating = [.taskLocal(Label.$current)]
      $0.interceptors = [Hook { _, next in await next() }]
      $0.onIncident = { [told] in told.record("\($0.kind), \(Label.current)") }
    }
    let probe = Probe()
    hub.subscribe(probe, to: Bystander.self)
    await Label.$current.withValue("one") {
      await hub[Bystander.self].conforming(to: Listener.self)
        .notifyAndWait { @MainActor _ in throw Refusal() }
    }
    await hub.drain()
    #expect(told.history == ["failed, one"])
    withExtendedLifetime(probe) {}
  }

  @Test("a failure in a question is told in those of the caller", arguments: 1...2)
  func failedQuestion(count: Int) {
    let stage = stage()
    let probes = stage.cast(count)
    let vote = stage.start { hub in
      await Label.$current.withValue("one") {
        await hub[Listener.self].vote(absent: .abstains) { _ in throw Refusal() }
      }
    }
    #expect(vote.result == true)
    #expect(told.history == Array(repeating: "failed in vote, one", count: count))
    withExtendedLifetime(probes) {}
  }

  @Test("who is late is told in those of the caller, with the time since the question")
  func late() {
    let stage = stage()
    let probes = stage.cast(2)
    let gate = Gate()
    stage.clock.advance(by: .seconds(7))
    let vote = stage.start { hub in
      await Label.$current.withValue("one") {
        await hub[Listener.self].vote(within: .seconds(2), absent: .abstains) { probe in
          if probe.name == "0" { await gate.pass() }
          return true
        }
      }
    }
    stage.advance(by: .seconds(2))
    #expect(vote.result == true)
    #expect(told.history == ["late in vote for 2.0 seconds, one"])
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("in turn it is the time since the turn")
  func lateInTurn() {
    let stage = stage()
    let probes = stage.cast(2)
    let gates = [Gate(), Gate()]
    let question = stage.start { hub in
      await hub[Listener.self].askInTurn(within: .seconds(5), absent: .abstains) { probe -> Int? in
        await gates[probe.name == "0" ? 0 : 1].pass()
        return nil
      }
    }
    stage.advance(by: .seconds(2))
    stage.open(gates[0])
    stage.advance(by: .seconds(3))
    #expect(question.result == .some(nil))
    #expect(told.history == ["late in askInTurn for 3.0 seconds, nothing"])
    stage.open(gates[1])
    withExtendedLifetime(probes) {}
  }

  @Test("one whose executor is busy has not been running")
  func notBegun() {
    let stage = stage()
    let busy = ManualExecutor()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, on: busy)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in true }
    }
    stage.advance(by: .seconds(1))
    #expect(vote.result == true)
    #expect(told.history == ["late in vote, nothing"])
    busy.run()
    withExtendedLifetime(probe) {}
  }

  @Test("a slow handler is told in the task-locals of its call, with the time that it has run")
  func slow() {
    let stage = stage(slowAfter: .seconds(1))
    let probes = stage.cast(1)
    let gate = Gate()
    Label.$current.withValue("post") {
      stage.hub[Listener.self].notify() { _ in await gate.pass() }
    }
    let vote = stage.start { hub in
      await Label.$current.withValue("vote") {
        await hub[Listener.self].vote() { _ in
          await gate.pass()
          return true
        }
      }
    }
    stage.advance(by: .seconds(1))
    #expect(
      told.history.sorted() == [
        "slow in notify for 1.0 seconds, post", "slow in vote for 1.0 seconds, vote",
      ])
    stage.open(gate)
    #expect(vote.result == true)
    withExtendedLifetime(probes) {}
  }

  @Test(
    "with a limit for slow ones, a failure has the time that the handler ran, told as slow or not",
    arguments: CallForm.allCases.filter {
      $0 == .notifyAwaiting || $0.rawValue.hasSuffix("Absent")
    },
    [500, 3000])
  func failedSlowly(form: CallForm, milliseconds: Int) {
    let stage = stage(slowAfter: .seconds(1))
    let probes = stage.cast(1)
    stage.clock.advance(by: .seconds(7))
    let call = stage.start { hub in
      await form(hub[Listener.self]) { _ in
        stage.clock.advance(by: .milliseconds(milliseconds))
        throw Refusal()
      }
    }
    stage.run()
    #expect(call.result != nil)
    let duration = Duration.milliseconds(milliseconds)
    #expect(told.history.last == "failed in \(form.call) for \(duration), nothing")
    withExtendedLifetime(probes) {}
  }

  @Test("what is dropped is told in the task-locals of the last notification that was")
  func dropped() {
    let stage = stage()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    for label in ["one", "two", "three"] {
      Label.$current.withValue(label) { stage.hub[Listener.self].notify() { $0.log.record(1) } }
    }
    stage.run()
    #expect(told.history == ["dropped in notify, two"])
    #expect(probe.log.history == [1])
  }
}

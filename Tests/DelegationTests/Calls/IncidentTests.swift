import Delegation
import Testing

/// What is an incident and what is not, kind by kind; slow handlers have a suite of their own.
@Suite("Incidents", .inTurn)
struct IncidentTests {
  private let incidents = Recorder<DelegateHub.Incident>()
  private let labels = Recorder<String>()
  private let stage: Stage
  private var hub: DelegateHub { stage.hub }
  /// Each in short: what, in which call, at which place.
  private var told: [String] { incidents.history.map { "\($0.kind) \($0.call) \($0.site)" } }

  init() {
    stage = Stage { [incidents, labels] configuration in
      configuration.propagating = [.taskLocal(Label.$current)]
      configuration.onIncident = {
        incidents.record($0)
        labels.record(Label.current)
      }
    }
  }

  /// Subscribes that many, at places with their numbers, which the hub keeps.
  @discardableResult
  private func cast(_ count: Int) -> [Probe] {
    let probes = Probe.many(count)
    for (number, probe) in probes.enumerated() {
      hub.subscribe(
        probe, to: Listener.self, hold: .strongly, fileID: "site", line: UInt(number))
    }
    return probes
  }

  @Test("a handler that throws: who, where, and what; an incident keeps nobody alive")
  func failed() throws {
    var probe: Probe? = Probe()
    weak let trace = probe
    let subscription = hub.subscribe(
      probe!, to: Listener.self, id: "quota", hold: .strongly, fileID: "Shop/Cart.swift", line: 7)
    hub[Listener.self].notify { _ in throw Refusal(reason: "two\nlines") }
    stage.run()
    let incident = try #require(incidents.history.first)
    #expect((incident.kind, incident.call) == (.failed, .notify))
    #expect(incident.error as? Refusal == Refusal(reason: "two\nlines"))
    #expect(incident.subscription == subscription)
    #expect((incident.dropped, incident.leftOut) == (0, 0))
    incident.subscription.cancel()
    #expect(!subscription.isActive)
    probe = nil
    #expect(trace == nil && incident.protocol == "DelegationTests.Listener")
    #expect(incident.subscriber == "DelegationTests.Probe (quota)")
    #expect(incident.site == "Shop/Cart.swift:7")
    // One line, whatever the error's text.
    #expect(
      incident.description
        == "DelegationTests.Probe (quota), subscribed to DelegationTests.Listener at "
        + "Shop/Cart.swift:7, failed in notify: Refusal(reason: \"two\\nlines\")")
  }

  @Test("a failure is told in the post's task-locals, though its subscriber leaves meanwhile")
  func failedNotification() {
    var mortal: Probe? = Probe("mortal")
    let (leaves, gate) = (Probe("leaves"), Gate())
    if let mortal { hub.subscribe(mortal, to: Listener.self, fileID: "mortal", line: 1) }
    let subscription = hub.subscribe(leaves, to: Listener.self, fileID: "leaves", line: 2)
    for label in ["one", "two"] {
      Label.$current.withValue(label) {
        hub[Listener.self].notify { _ in
          if label == "two" { await gate.pass() }
          throw Refusal(reason: label)
        }
      }
    }
    stage.run()
    mortal = nil
    subscription.cancel()
    stage.open(gate)
    #expect(
      Set(told) == ["failed notify mortal:1", "failed notify leaves:2"])
    #expect(labels.history == ["one", "one", "two", "two"])
    #expect(incidents.history.map(\.duration) == [nil, nil, nil, nil])
  }

  @Test("what a voter throws is told if `absent:` swallows it, else it goes to the caller")
  func voters() {
    cast(2)
    let check: @Sendable (any Listener) throws -> Bool = { probe in
      if probe.name == "1" { throw Refusal() }
      return true
    }
    let outcomes = stage.perform { hub in
      let all = hub[Listener.self]
      return await Label.$current.withValue("asked") {
        [
          (try? await all.vote { try check($0) }) == nil,
          (try? await all.askInTurn { try check($0) ? nil : 1 }) == nil,
          (try? await all.pass(0) { try check($0) ? $1 : nil }) == nil,
          await all.vote(absent: .abstains) { try check($0) },
          await all.vote(within: .seconds(1), absent: .counts(as: true)) { try check($0) },
          await all.ask(combining: .all(), absent: .counts(as: true)) { try check($0) }.count == 2,
          await all.collect { try check($0) }.count == 2,
        ]
      }
    }
    #expect(outcomes == [true, true, true, true, true, true, true])
    #expect(told == ["failed vote site:1", "failed vote site:1", "failed ask site:1"])
    #expect(labels.history == ["asked", "asked", "asked"])
  }

  @Test("what a handler throws because it was cancelled is none")
  func cancelled() {
    cast(2)
    let gates = [Gate(), Gate()]
    let decided = stage.start { hub in
      await hub[Listener.self].vote(absent: .abstains) { probe in
        if probe.name == "1" { return false }
        await gates[0].pass()
        throw Refusal()
      }
    }
    #expect(decided.result == false)
    let given = stage.start { hub in
      await hub[Listener.self].vote(absent: .counts(as: false)) { probe in
        await gates[1].pass()
        throw Refusal()
      }
    }
    given.cancel()
    stage.run()
    for gate in gates { stage.open(gate) }
    #expect(given.result == false && told == [])
  }

  @Test("each late one is told, though the first decides, in the caller's task-locals")
  func late() {
    cast(4)
    let gate = Gate()
    stage.clock.advance(by: .seconds(7))
    let vote = stage.start { hub in
      await Label.$current.withValue("asked") {
        await hub[Listener.self].vote(within: .seconds(2), absent: .counts(as: false)) { probe in
          if probe.name != "2" { await gate.pass() }
          if probe.name == "0" { throw Refusal() }
          return true
        }
      }
    }
    stage.advance(by: .seconds(2))
    #expect(vote.result == false)
    #expect(told == ["late vote site:0", "late vote site:1", "late vote site:3"])
    #expect(labels.history == ["asked", "asked", "asked"])
    #expect(incidents.history.map(\.duration) == [.seconds(2), .seconds(2), .seconds(2)])
    #expect(
      incidents.history.first?.description
        == "DelegationTests.Probe, subscribed to DelegationTests.Listener at site:0, had not "
        + "answered at the deadline of vote")
    // They are cancelled; whatever they do now is no further incident.
    stage.open(gate)
    #expect(incidents.history.count == 3)
  }

  @Test("one is late in the other questions too, but not if it was removed, or has not begun")
  func lateElsewhere() {
    let probes = cast(2)
    let (gate, stuck) = (Gate(), ManualExecutor())
    let handle: @Sendable (any Listener) async -> Void = { if $0.name == "1" { await gate.pass() } }
    let calls: [@Sendable (Delegates<any Listener>) async -> Void] = [
      { _ = await $0.ask(combining: .all(), within: .seconds(1), absent: .abstains, handle) },
      { _ = await $0.collect(within: .seconds(1), handle) },
      {
        _ = await $0.askInTurn(within: .seconds(1), absent: .abstains) {
          await handle($0)
          return nil as Int?
        }
      },
      {
        _ = await $0.pass(1, eachWithin: .seconds(1), absent: .abstains) {
          await handle($0)
          return $1
        }
      },
    ]
    for call in calls {
      let call = stage.start { await call($0[Listener.self]) }
      stage.advance(by: .seconds(1))
      #expect(call.result != nil)
    }
    #expect(told == ["ask", "collect", "askInTurn", "pass"].map { "late \($0) site:1" })
    let last = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(1)) { _ in await gate.pass() }.count
    }
    for probe in probes { hub.unsubscribe(probe) }
    stage.advance(by: .seconds(1))
    #expect(last.result != nil)
    let waiting = Probe()
    hub.subscribe(waiting, to: Listener.self, on: stuck, fileID: "stuck", line: 1)
    let other = stage.start { hub in
      await hub[Listener.self].vote { _ in
        await gate.pass()
        return true
      }
    }
    stuck.run()
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in true }
    }
    stage.advance(by: .seconds(1))
    #expect(vote.result == true && other.result == nil)
    // It is late, and has not been running, but for another question.
    #expect(told.suffix(1) == ["late vote stuck:1"])
    #expect(incidents.history.last?.duration == nil)
    #expect(incidents.history.count == 5)
    stage.open(gate)
    stuck.run()
    withExtendedLifetime(waiting) {}
  }

  @Test("one that an interceptor keeps from beginning is late, and for no time")
  func lateWithoutBeginning() {
    let (gate, durations) = (Gate(), Recorder<Duration?>())
    let stage = Stage { configuration in
      configuration.interceptors = [Hook.holding(at: gate)]
      configuration.on(.late) { durations.record($0.duration) }
    }
    stage.cast(2)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in true }
    }
    stage.advance(by: .seconds(1))
    #expect(vote.result == true && durations.history == [nil, nil])
    stage.open(gate)
    #expect(stage.hub.statistics().questions.asked == 0)
  }

  @Test("a mailbox that overflows is told once until its subscriber has caught up")
  func dropped() {
    let probe = Probe()
    let gates = [Gate(), Gate()]
    hub.subscribe(
      probe, to: Listener.self, mailbox: .dropOldest(limit: 2), fileID: "site", line: 1)
    for gate in gates {
      hub[Listener.self].notify { _ in await gate.pass() }
      stage.run()
      for number in 0..<6 {
        Label.$current.withValue("\(number)") { hub[Listener.self].notify { _ in } }
        stage.run()
      }
      stage.open(gate)
    }
    #expect(Set(told) == ["dropped notify site:1"] && told.count == 2)
    // Since the last report.
    #expect(incidents.history.map(\.dropped) == [1, 4])
    #expect(incidents.history.last?.description.contains("has a full mailbox: ") == true)
    #expect(hub.statistics().counts.dropped == 8)
    // One without a limit is never told, nor one that is never full, nor one that keeps the latest alone.
    hub.subscribe(Probe(), to: Bystander.self, hold: .strongly, mailbox: .latest)
    hub.subscribe(Probe(), to: Bystander.self, hold: .strongly)
    hub.subscribe(
      Probe(), to: Bystander.self, hold: .strongly, mailbox: .dropOldest(limit: 10))
    for _ in 0..<10 { hub[Bystander.self].notify { _ in } }
    stage.run()
    #expect(told.count == 2)
  }

  /// Something else to subscribe.
  private final class Other: Listener {
    let name = "other"
    let log = Recorder<Int>()
  }

  @Test("a subscriber that nobody keeps is told at the first call", arguments: Reach.allCases)
  func unheard(reach: Reach) {
    func call() {
      #expect(stage.start { await reach($0) { _ in } }.result != nil)
    }
    func subscribe(_ listener: any Listener, line: UInt) {
      hub.subscribe(listener, to: Listener.self, id: line, fileID: "Door.swift", line: line)
    }
    subscribe(Probe(), line: 3)
    for _ in 0..<2 { call() }
    let name = ["notifyAndWait", "notify", "vote", "askInTurn", "ask", "collect", "pass"]
      .first { "\(reach)".hasPrefix($0) }
    #expect(told == ["unheard \(name ?? "") Door.swift:3"])
    #expect(
      incidents.history.first?.description
        == "DelegationTests.Probe (3), subscribed to DelegationTests.Listener at Door.swift:3, "
        + "died before it was ever called, as \(name ?? "") found: who keeps it? "
        + "A local variable does so until its last use")
    var mortal: Probe? = Probe()
    if let mortal { subscribe(mortal, line: 4) }
    call()
    mortal = nil
    call()
    // One of a line whose others were called is released on purpose.
    subscribe(Probe(), line: 4)
    call()
    #expect(told.count == 1)
    // Another type is a mistake of its own.
    subscribe(Other(), line: 4)
    call()
    #expect(told.suffix(1) == ["unheard \(name ?? "") Door.swift:4"])
  }

  @Test("not one that was called in any way, was removed, or was never to be called")
  func heard() {
    var mortals = Probe.many(5)
    hub.subscribe(mortals[0], to: Listener.self)
    hub[Listener.self].notify { _ in throw Refusal() }
    stage.run()
    let further = hub[Bystander.self].conforming(to: Listener.self)
    hub.subscribe(mortals[1], to: Bystander.self)
    #expect(stage.perform { _ in await further.vote { _ in true } } == true)
    hub.subscribe(mortals[2], to: Listener.self).cancel()
    hub.subscribe(mortals[3], to: Listener.self, id: "removed")
    hub.unsubscribe(id: "removed")
    hub.subscribe(mortals[4], to: (any Listener & Bystander).self)
    mortals = []
    for delegates in [hub[Listener.self], further] { delegates.notify { _ in } }
    stage.run()
    #expect(hub[(any Listener & Bystander).self].isEmpty)
    #expect(incidents.history.map(\.kind) == [.failed])
  }
}

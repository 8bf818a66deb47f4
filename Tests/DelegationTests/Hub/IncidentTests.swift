import Testing

@testable import Delegation

/// What is an incident and what is not, kind by kind; slow handlers, and those who were never called, have
/// suites of their own.
@Suite("Incidents", .inTurn)
struct IncidentTests {
  private let scene = IncidentScene()

  // MARK: Failed

  @Test("a handler that throws: what, where, who, and what it threw")
  func failed() throws {
    let probe = Probe()
    let subscription = scene.hub.subscribe(
      probe, to: Listener.self, id: "quota", fileID: "Shop/Cart.swift", line: 7)
    scene.hub[Listener.self].notify() { _ in throw Refusal(reason: "full") }
    scene.stage.run()
    let incident = try #require(scene.incidents.history.first)
    #expect(incident.kind == .failed)
    #expect(incident.call == .notify)
    #expect(incident.error as? Refusal == Refusal(reason: "full"))
    #expect(incident.protocol == "DelegationTests.Listener")
    #expect(incident.subscriber == "DelegationTests.Probe (quota)")
    #expect(incident.site == "Shop/Cart.swift:7")
    #expect(incident.subscription == subscription)
    #expect((incident.dropped, incident.leftOut) == (0, 0))
    #expect(
      incident.description
        == "DelegationTests.Probe (quota), subscribed to DelegationTests.Listener at "
        + "Shop/Cart.swift:7, failed in notify: Refusal(reason: \"full\")")
    switch incident.kind {
    case .failed: break
    default: Issue.record("\(incident.kind)")
    }
    incident.subscription.cancel()
    #expect(!subscription.isActive)
    withExtendedLifetime(probe) {}
  }

  @Test("a voter that throws each time is told each time, if `absent:` swallows it")
  func swallowed() {
    let probes = scene.cast(2)
    let check: @Sendable (any Listener) throws -> Bool = { probe in
      if probe.name == "1" { throw Refusal() }
      return true
    }
    let outcomes = scene.stage.perform { hub in
      [
        await hub[Listener.self].vote(absent: .abstains) { try check($0) },
        await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: true)) {
          try check($0)
        },
        await hub[Listener.self].ask(combining: .all(), absent: .counts(as: true)) {
          try check($0)
        }.count == 2,
      ]
    }
    #expect(outcomes == [true, true, true])
    #expect(scene.told == ["failed vote site:1", "failed vote site:1", "failed ask site:1"])
    withExtendedLifetime(probes) {}
  }

  @Test("what a handler throws because it was cancelled is none")
  func cancelled() {
    let probes = scene.cast(2)
    let gate = Gate()
    let decided = scene.stage.start { hub in
      await hub[Listener.self].vote(absent: .abstains) { probe in
        if probe.name == "1" { return false }
        await gate.pass()
        try Task.checkCancellation()
        return true
      }
    }
    #expect(decided.result == false)
    scene.stage.open(gate)
    let (second, third) = (Gate(), Gate())
    let given = scene.stage.start { hub in
      await hub[Listener.self].vote(absent: .counts(as: false)) { probe in
        await (probe.name == "0" ? second : third).pass()
        throw Refusal()
      }
    }
    given.cancel()
    scene.stage.run()
    scene.stage.open(second)
    scene.stage.open(third)
    #expect(given.result == false)
    #expect(scene.told == [])
    #expect(probes.isEmpty == false)
  }

  // MARK: Late

  @Test("each one that is late is told, though the first decides")
  func late() throws {
    let probes = scene.cast(4)
    let gate = Gate()
    let vote = scene.stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { probe in
        if probe.name != "2" { await gate.pass() }
        return true
      }
    }
    scene.stage.advance(by: .seconds(1))
    #expect(vote.result == false)
    #expect(scene.told == ["late vote site:0", "late vote site:1", "late vote site:3"])
    // They are cancelled; whatever they do now is no further incident.
    scene.stage.open(gate)
    try #require(scene.incidents.history.count == 3)
    #expect(
      scene.incidents.history[0].description
        == "DelegationTests.Probe, subscribed to DelegationTests.Listener at site:0, had not "
        + "answered at the deadline of vote")
    withExtendedLifetime(probes) {}
  }

  @Test("one is late in ask and in collect too, but not if it was removed, or if nobody was asked")
  func lateElsewhere() {
    let probes = scene.cast(2)
    let gate = Gate()
    let calls = (0..<2).map { number in
      scene.stage.start { hub in
        let ask: @Sendable (any Listener) async -> Void = {
          if $0.name == "1" { await gate.pass() }
        }
        if number == 0 {
          _ = await hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .abstains
          ) { await ask($0) }
        } else {
          _ = await hub[Listener.self].collect(within: .seconds(2)) { await ask($0) }
        }
        return number
      }
    }
    scene.stage.advance(by: .seconds(1))
    scene.stage.advance(by: .seconds(1))
    #expect(calls.map(\.result) == [0, 1])
    #expect(scene.told == ["late ask site:1", "late collect site:1"])
    let last = scene.stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(1)) { _ in await gate.pass() }.count
    }
    scene.hub.unsubscribe(probes[0])
    scene.hub.unsubscribe(probes[1])
    scene.stage.advance(by: .seconds(1))
    #expect(last.result == 2)
    let others = scene.cast(1)
    #expect(
      scene.stage.perform { hub in
        await hub[Listener.self].vote(within: .zero, absent: .counts(as: true)) { _ in false }
      } == true)
    #expect(scene.incidents.history.count == 2)
    scene.stage.open(gate)
    withExtendedLifetime((probes, others)) {}
  }

  // MARK: Dropped

  @Test("a mailbox that overflows is told once until the subscriber has caught up, with how many")
  func dropped() {
    let probe = Probe()
    let policies: [DelegateHub.MailboxPolicy] = [
      .latest, .dropOldest(limit: 1), .dropNewest(limit: 1),
    ]
    for policy in policies {
      let scene = IncidentScene()
      let gates = [Gate(), Gate()]
      scene.hub.subscribe(probe, to: Listener.self, mailbox: policy, fileID: "site", line: 1)
      for gate in gates {
        scene.hub[Listener.self].notify() { _ in await gate.pass() }
        scene.stage.run()
        // One waits and four are dropped, in two goes.
        for _ in 0..<2 {
          scene.hub[Listener.self].notify() { _ in }
          scene.hub[Listener.self].notify() { _ in }
          scene.stage.run()
        }
        scene.hub[Listener.self].notify() { _ in }
        scene.stage.run()
        scene.stage.open(gate)
      }
      #expect(scene.told == ["dropped notify site:1", "dropped notify site:1"], "\(policy)")
      // Of the first go; then three of the first overload and one of the second.
      #expect(scene.incidents.history.map(\.dropped) == [1, 4], "\(policy)")
      #expect(
        scene.incidents.history.last?.description.hasSuffix(": 4 dropped since the last time")
          == true)
      #expect(scene.stage.accounts?.dropped == 8)
    }
  }

  @Test("no mailbox without a limit is told, nor one that is never full")
  func notDropped() {
    let (one, other) = (Probe(), Probe())
    scene.hub.subscribe(one, to: Listener.self)
    scene.hub.subscribe(other, to: Listener.self, mailbox: .dropOldest(limit: 10))
    for _ in 0..<10 { scene.hub[Listener.self].notify() { _ in } }
    scene.stage.run()
    #expect(scene.told == [])
    withExtendedLifetime((one, other)) {}
  }

  // MARK: All of them

  @Test("an incident keeps nobody alive, and names those that have died since")
  func outliving() {
    var mortal: Probe? = Probe()
    weak let trace = mortal
    if let mortal {
      scene.hub.subscribe(
        mortal, to: Listener.self, id: "quota", hold: .strongly, fileID: "Shop/Quota.swift", line: 2
      )
    }
    scene.hub[Listener.self].notify() { _ in throw Refusal() }
    scene.stage.run()
    scene.hub.unsubscribeAll(from: Listener.self)
    mortal = nil
    #expect(trace == nil)
    #expect(scene.incidents.history.map(\.subscriber) == ["DelegationTests.Probe (quota)"])
  }

  @Test("kinds and calls have the names that they are written with")
  func names() {
    let kinds: [DelegateHub.Incident.Kind] = [.failed, .late, .slow, .dropped, .unheard]
    #expect(kinds.map(\.description) == ["failed", "late", "slow", "dropped", "unheard"])
    #expect(Set(kinds).count == 5)
    let calls: [DelegateHub.Incident.Call] = [
      .notify, .notifyAndWait, .vote, .ask, .collect, .askInTurn, .pass,
    ]
    #expect(
      calls.map(\.description) == [
        "notify", "notifyAndWait", "vote", "ask", "collect", "askInTurn", "pass",
      ])
    #expect(Set(calls).count == 7)
  }
}

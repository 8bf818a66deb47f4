import Testing

@testable import Delegation

@Suite("Mailbox policies", .inTurn)
struct MailboxPolicyTests {
  /// What a policy makes of 0, which is being handled, and 1 to 10, which wait.
  struct Case: Sendable, CustomTestStringConvertible {
    let policy: DelegateHub.MailboxPolicy
    let handled: [Int]

    var testDescription: String { "\(policy)" }

    static let all = [
      Case(policy: .unbounded, handled: Array(0...10)),
      Case(policy: .dropOldest(limit: 3), handled: [0, 8, 9, 10]),
      Case(policy: .dropOldest(limit: 1), handled: [0, 10]),
      Case(policy: .dropOldest(limit: 10), handled: Array(0...10)),
      Case(policy: .dropOldest(limit: .max), handled: Array(0...10)),
      Case(policy: .dropNewest(limit: 3), handled: [0, 1, 2, 3]),
      Case(policy: .dropNewest(limit: 1), handled: [0, 1]),
      Case(policy: .dropNewest(limit: 10), handled: Array(0...10)),
      Case(policy: .dropNewest(limit: .max), handled: Array(0...10)),
      Case(policy: .latest, handled: [0, 10]),
    ]
  }

  @Test("the latest alone is the limit of one, and is written in one way")
  func latest() {
    #expect(DelegateHub.MailboxPolicy.latest == .dropOldest(limit: 1))
    #expect("\(DelegateHub.MailboxPolicy.dropOldest(limit: 1))" == "latest")
    #expect(DelegateHub.MailboxPolicy.latest != .dropNewest(limit: 1))
    #expect("\(DelegateHub.MailboxPolicy.dropNewest(limit: 1))" == "dropNewest(limit: 1)")
    #expect("\(DelegateHub.MailboxPolicy.unbounded)" == "unbounded")
  }

  @Test(
    "what comes while one is being handled waits or is dropped as the policy says",
    arguments: Case.all)
  func whileHandling(item: Case) {
    let stage = Stage()
    let gate = Gate()
    let (probe, other) = (Probe(), Probe())
    stage.hub.subscribe(probe, to: Listener.self, mailbox: item.policy)
    stage.hub.subscribe(other, to: Listener.self)
    stage.hub[Listener.self].notify() { present in
      if present === probe { await gate.pass() }
      present.log.record(0)
    }
    stage.run()
    for number in 1...10 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    stage.run()
    #expect(probe.log.history == [])
    #expect(other.log.history == Array(0...10))
    let dropped = 11 - item.handled.count
    #expect(
      stage.counts == [
        "handled 0, failed 0, expired 0, dropped \(dropped), cancelled 0, waiting \(10 - dropped), "
          + "handling 1",
        "handled 11, failed 0, expired 0, dropped 0, cancelled 0, waiting 0, handling 0",
      ])
    stage.open(gate)
    #expect(probe.log.history == item.handled)
    #expect(
      stage.counts == [
        "handled \(11 - dropped), failed 0, expired 0, dropped \(dropped), cancelled 0, waiting 0, "
          + "handling 0",
        "handled 11, failed 0, expired 0, dropped 0, cancelled 0, waiting 0, handling 0",
      ])
  }

  @Test("what comes before anyone has begun waits or is dropped likewise", arguments: Case.all)
  func beforeAnyoneBegan(item: Case) {
    let stage = Stage()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: item.policy)
    for number in 1...10 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    stage.run()
    #expect(probe.log.history == Array(item.handled.dropFirst()))
    #expect(
      stage.counts == [
        "handled \(item.handled.count - 1), failed 0, expired 0, dropped \(11 - item.handled.count), "
          + "cancelled 0, waiting 0, handling 0"
      ])
  }

  @Test("a mailbox that was full takes more when there is room again")
  func roomAgain() {
    let stage = Stage()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .dropNewest(limit: 2))
    let gates = (0..<4).map { _ in Gate() }
    for round in 0..<4 {
      stage.hub[Listener.self].notify() { probe in
        await gates[round].pass()
        probe.log.record(10 * round)
      }
      stage.run()
      for number in 1...5 {
        stage.hub[Listener.self].notify() { $0.log.record(10 * round + number) }
        stage.run()
      }
      stage.open(gates[round])
    }
    #expect(probe.log.history == [0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32])
    #expect(
      stage.counts == [
        "handled 12, failed 0, expired 0, dropped 12, cancelled 0, waiting 0, handling 0"
      ])
  }

  /// Lets nine wait under one policy, changes to another, lets four more come, and opens the gate.
  private func history(
    from before: DelegateHub.MailboxPolicy, to after: DelegateHub.MailboxPolicy
  ) -> (handled: [Int], dropped: Int?, mostWaiting: Int?) {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: before)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    for number in 1...9 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    stage.run()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: after)
    for number in 10...13 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    stage.run()
    let waiting = stage.statistics?.protocols.first?.counts.waiting
    stage.open(gate)
    let dropped = stage.statistics?.protocols.first?.counts.dropped
    return (probe.log.history, dropped, waiting)
  }

  @Test("subscribing again lifts a limit, and keeps what waits")
  func liftingALimit() {
    for policy in [DelegateHub.MailboxPolicy.dropOldest(limit: 3), .dropNewest(limit: 3)] {
      let outcome = history(from: policy, to: .unbounded)
      let waiting = policy == .dropOldest(limit: 3) ? [7, 8, 9] : [1, 2, 3]
      #expect(outcome.handled == waiting + Array(10...13))
      #expect(outcome.dropped == 6)
    }
  }

  @Test("subscribing again sets a limit, which holds for what waits as well")
  func settingALimit() {
    let latest = history(from: .unbounded, to: .latest)
    #expect(latest.handled == [13])
    #expect(latest.dropped == 12)
    let oldest = history(from: .unbounded, to: .dropOldest(limit: 3))
    #expect(oldest.handled == [11, 12, 13])
    #expect(oldest.dropped == 10)
    let newest = history(from: .unbounded, to: .dropNewest(limit: 3))
    #expect(newest.handled == [1, 2, 3])
    #expect(newest.dropped == 10)
  }

  @Test("subscribing again lowers a limit, which holds for what waits as well")
  func loweringALimit() {
    let latest = history(from: .dropOldest(limit: 5), to: .latest)
    #expect(latest.mostWaiting == 1)
    #expect(latest.handled == [13])
    #expect(latest.dropped == 12)
    let oldest = history(from: .dropNewest(limit: 5), to: .dropOldest(limit: 2))
    #expect(oldest.mostWaiting == 2)
    #expect(oldest.handled == [12, 13])
    #expect(oldest.dropped == 11)
    let newest = history(from: .dropOldest(limit: 5), to: .dropNewest(limit: 2))
    #expect(newest.mostWaiting == 2)
    #expect(newest.handled == [5, 6])
    #expect(newest.dropped == 11)
  }

  @Test("subscribing again raises a limit")
  func raisingALimit() {
    let oldest = history(from: .dropOldest(limit: 2), to: .dropOldest(limit: 5))
    #expect(oldest.handled == [9, 10, 11, 12, 13])
    #expect(oldest.dropped == 8)
    let newest = history(from: .dropNewest(limit: 2), to: .dropNewest(limit: 5))
    #expect(newest.handled == [1, 2, 10, 11, 12])
    #expect(newest.dropped == 8)
  }

  @Test("a new limit that what waits just meets drops nothing, and the first drop after it is told")
  func meetingALimit() {
    var backlog = Backlog(policy: .dropNewest(limit: 1))
    backlog.add(Structures.content(), number: 0)
    backlog.setPolicy(.latest)
    #expect(backlog.takeUnreportedDrops() == 0)
    backlog.add(Structures.content(), number: 1)
    #expect(backlog.takeUnreportedDrops() == 1)
    #expect(backlog.count == 1)
  }

  @Test("each subscriber has its own policy, and each protocol's")
  func apart() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    stage.hub.subscribe(probe, to: Bystander.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.hub[Bystander.self].notify() { _ in await gate.pass() }
    stage.run()
    for number in 1...3 {
      stage.hub[Listener.self].notify() { $0.log.record(number) }
      stage.hub[Bystander.self].notify() { $0.log.record(10 * number) }
    }
    stage.open(gate)
    #expect(probe.log.history.filter { $0 < 10 } == [3])
    #expect(probe.log.history.filter { $0 >= 10 } == [10, 20, 30])
  }

  @Test("a limit below 1 stops the program, and says why")
  func limitBelowOne() async {
    let zero = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      DelegateHub().subscribe(Probe(), to: Listener.self, mailbox: .dropOldest(limit: 0))
    }
    #expect(said(zero, "DelegationTests/MailboxPolicyTests.swift:"))
    #expect(
      said(zero, "a mailbox with a limit of 0 could hold nothing. Give a limit of 1 or more."))
    let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      DelegateHub().subscribe(Probe(), to: Listener.self, mailbox: .dropNewest(limit: -5))
    }
    #expect(said(negative, "a mailbox with a limit of -5 could hold nothing."))
  }
}

extension Stage {
  /// The hub's statistics.
  var statistics: DelegateHub.Statistics? { perform { await $0.statistics() } }

  /// The counts of the present subscribers, in words.
  var counts: [String] {
    (statistics?.protocols ?? []).flatMap(\.subscribers).map { "\($0.counts)" }
  }
}

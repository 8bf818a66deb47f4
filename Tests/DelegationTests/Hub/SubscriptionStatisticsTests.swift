import Testing

@testable import Delegation

@Suite("Statistics of one subscription, and of questions", .inTurn)
struct SubscriptionStatisticsTests {
  private let stage = Stage { $0.onIncident = { _ in } }

  @Test("a subscription tells what has become of its notifications, also when it has ended")
  func ofOne() {
    let gate = Gate()
    let (probe, other) = (Probe(), Probe())
    let subscription = stage.hub.subscribe(
      probe, to: Listener.self, id: 7, fileID: "Shop/Cart.swift", line: 1)
    stage.hub.subscribe(other, to: Listener.self)
    for number in 0..<5 {
      stage.hub[Listener.self].notify() { probe in
        if number == 1 { throw Refusal() }
        if number == 2 { await gate.pass() }
      }
    }
    stage.run()
    let running = subscription.statistics
    #expect(running.subscriber == "DelegationTests.Probe (7)")
    #expect(running.site == "Shop/Cart.swift:1")
    #expect(running.subscription == subscription)
    #expect(running.running == 1)
    #expect(running.counts == .init(handled: 1, failed: 1, waiting: 2, handling: 1))
    #expect(running.counts.addressed == 5)
    subscription.cancel()
    #expect(
      subscription.statistics.counts == .init(handled: 1, failed: 1, cancelled: 2, handling: 1))
    stage.open(gate)
    #expect(subscription.statistics.counts == .init(handled: 2, failed: 1, cancelled: 2))
    #expect(subscription.statistics.running == 0)
    withExtendedLifetime((probe, other)) {}
  }

  private protocol Secret: AnyObject, Sendable {}
  private final class Agent<Cover>: Secret {}
  private enum Cover {}

  @Test("the names of private types are the same in each run")
  func names() async {
    let agent = Agent<Cover>()
    let subscription = stage.hub.subscribe(agent, to: Secret.self)
    let suite = "DelegationTests.SubscriptionStatisticsTests"
    #expect(subscription.statistics.subscriber == "\(suite).Agent<\(suite).Cover>")
    #expect(await stage.hub.statistics().protocols.map(\.name) == ["\(suite).Secret"])
    withExtendedLifetime(agent) {}
  }

  @Test("how often it threw and was late is counted for each, whatever else changes")
  func questions() {
    let gate = Gate()
    let probes = Probe.many(3)
    let subscriptions = probes.map { stage.hub.subscribe($0, to: Listener.self) }
    func ask() {
      let call = stage.start { hub in
        await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { probe in
          if probe.name == "1" { throw Refusal() }
          if probe.name == "2" { await gate.pass() }
          return true
        }
      }
      stage.advance(by: .seconds(1))
      #expect(call.result == true)
    }
    ask()
    ask()
    let expected: [DelegateHub.Statistics.Questions] = [
      .init(answered: 2), .init(failed: 2), .init(late: 2),
    ]
    #expect(subscriptions.map(\.statistics.questions) == expected)
    #expect(stage.statistics?.protocols.first?.subscribers.map(\.questions) == expected)
    // Other options, another id, and the end leave it as it is.
    for probe in probes {
      stage.hub.subscribe(probe, to: Listener.self, priority: 1, id: probe.name, mailbox: .latest)
    }
    #expect(subscriptions.map(\.statistics.questions) == expected)
    #expect(subscriptions.map(\.statistics.subscriber).last == "DelegationTests.Probe (2)")
    ask()
    for subscription in subscriptions { subscription.cancel() }
    #expect(
      subscriptions.map(\.statistics.questions) == [
        .init(answered: 3), .init(failed: 3), .init(late: 3),
      ])
    #expect(subscriptions.map(\.statistics.running) == [0, 0, 3])
    stage.open(gate)
    #expect(subscriptions.map(\.statistics.running) == [0, 0, 0])
    #expect(stage.statistics?.questions == .init(answered: 3, failed: 3, late: 3))
  }

  @Test("protocols that were only asked show no notifications, and those without calls no line")
  func onlyAsked() {
    let gate = Gate()
    let probes = Probe.many(2)
    for (number, probe) in probes.enumerated() {
      stage.hub.subscribe(probe, to: Listener.self, fileID: "site", line: UInt(number))
    }
    #expect(stage.statistics?.description == "no calls")
    let vote = stage.start { hub in
      await hub[Listener.self].vote(absent: .abstains) { probe in
        if probe.name == "0" { throw Refusal() }
        return true
      }
    }
    #expect(vote.result == true)
    #expect(
      stage.statistics?.description == """
        DelegationTests.Listener: asked 2, answered 1, failed 1, late 0, abandoned 0, answering 0
          DelegationTests.Probe, subscribed at site:0: running 0; asked 1, answered 0, failed 1, late 0, \
        abandoned 0, answering 0
          DelegationTests.Probe, subscribed at site:1: running 0; asked 1, answered 1, failed 0, late 0, \
        abandoned 0, answering 0
        """)
    let late = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in
        await gate.pass()
        return true
      }
    }
    stage.advance(by: .seconds(1))
    #expect(late.result == true)
    #expect(
      stage.statistics?.description == """
        DelegationTests.Listener: asked 4, answered 1, failed 1, late 2, abandoned 0, answering 0
          DelegationTests.Probe, subscribed at site:0: running 1; asked 2, answered 0, failed 1, late 1, \
        abandoned 0, answering 0
          DelegationTests.Probe, subscribed at site:1: running 1; asked 2, answered 1, failed 0, late 1, \
        abandoned 0, answering 0
        """)
    stage.open(gate)
    #expect(stage.statistics?.addressed == 0)
  }

  @Test("replies and what is left carry the subscription, by which it can be ended")
  func carried() {
    let gate = Gate()
    let probes = Probe.many(2)
    let subscriptions = probes.map { stage.hub.subscribe($0, to: Listener.self, id: $0.name) }
    let replies = stage.perform { await $0[Listener.self].collect() { $0.name } } ?? []
    #expect(replies.map(\.subscription) == subscriptions)
    #expect(
      replies.map(\.subscriber) == ["DelegationTests.Probe (0)", "DelegationTests.Probe (1)"])
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.subscribers.map(\.subscription) == subscriptions)
    left?.subscribers.first?.subscription.cancel()
    #expect(subscriptions.map(\.isActive) == [false, true])
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("policies, holds and what counts for the absent are put into words as they are written")
  func words() {
    let policies: [DelegateHub.MailboxPolicy] = [
      .unbounded, .dropOldest(limit: 2), .dropNewest(limit: 3), .latest,
    ]
    #expect(
      policies.map(\.description) == [
        "unbounded", "dropOldest(limit: 2)", "dropNewest(limit: 3)", "latest",
      ])
    #expect(Set(policies).count == 4)
    #expect(DelegateHub.MailboxPolicy.dropOldest(limit: 2) == .dropOldest(limit: 2))
    #expect(DelegateHub.MailboxPolicy.dropOldest(limit: 2) != .dropOldest(limit: 1))
    #expect("\(DelegateHub.Hold.weakly), \(DelegateHub.Hold.strongly)" == "weakly, strongly")
    #expect("\(DelegateHub.Absence<Int>.abstains)" == "abstains")
    #expect("\(DelegateHub.Absence.counts(as: 3))" == "counts as 3")
  }
}

import Delegation
import Testing

@Suite("Statistics", .inTurn)
struct StatisticsTests {
  private let stage = Stage { $0.onIncident = { _ in } }
  private var statistics: DelegateHub.Statistics { stage.hub.statistics() }
  private var questions: String { statistics.questions.description }

  @Test("the description tells all, protocol by protocol and subscriber by subscriber")
  func description() {
    let (gate, plain, named, both) = (Gate(), Probe("plain"), Probe("named"), Probe("both"))
    #expect(statistics.description == "no subscriptions")
    stage.hub.subscribe(plain, to: Listener.self, fileID: "Shop/Cart.swift", line: 1)
    stage.hub.subscribe(
      named, to: Listener.self, priority: 1, id: "quota", mailbox: .latest,
      fileID: "Shop/Quota.swift", line: 2)
    stage.hub.subscribe(both, to: Listener.self, fileID: "Shop/Cart.swift", line: 3)
    stage.hub.subscribe(both, to: Bystander.self, fileID: "Shop/Cart.swift", line: 4)
    #expect(statistics.description == "no calls")
    #expect(stage.perform { await $0[Bystander.self].vote { _ in true } } == true)
    stage.hub[Listener.self].notify { probe in
      if probe.name == "named" { await gate.pass() }
      if probe.name == "plain" { throw Refusal() }
    }
    stage.run()
    for _ in 0..<3 { stage.hub[Listener.self].notify { _ in } }
    stage.run()
    #expect(
      statistics.description == """
        DelegationTests.Bystander: \(asked(answered: 1))
          DelegationTests.Probe, subscribed at Shop/Cart.swift:4: running 0; \(asked(answered: 1))
        DelegationTests.Listener: posted 4, addressed 12, \
        \(told(handled: 7, failed: 1, dropped: 2, waiting: 1, handling: 1))
          DelegationTests.Probe (quota), subscribed at Shop/Quota.swift:2: running 1, \
        \(told(dropped: 2, waiting: 1, handling: 1))
          DelegationTests.Probe, subscribed at Shop/Cart.swift:1: running 0, \
        \(told(handled: 3, failed: 1))
          DelegationTests.Probe, subscribed at Shop/Cart.swift:3: running 0, \(told(handled: 4))
        """)
    stage.open(gate)
    withExtendedLifetime((plain, named, both)) {}
  }

  /// An id that notes when it is put into words.
  private struct Talkative: Hashable, CustomStringConvertible {
    let number: Int
    let words = Recorder<Int>()

    static func == (one: Self, other: Self) -> Bool { one.number == other.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }

    var description: String {
      words.record(number)
      return "number \(number)"
    }
  }

  private protocol Secret: AnyObject, Sendable {}
  private final class Agent<Cover>: Secret {}
  private enum Cover {}

  @Test("names are made when somebody reads them, are the same in each run, and keep nobody alive")
  func names() {
    var mortal: Probe? = Probe()
    let (id, agent) = (Talkative(number: 7), Agent<Cover>())
    weak let trace = mortal
    if let mortal {
      stage.hub.subscribe(
        mortal, to: Listener.self, id: id, hold: .strongly, fileID: "Shop/Quota.swift", line: 2)
    }
    stage.hub[Listener.self].notify { _ in }
    stage.run()
    let item = statistics.protocols.first?.subscribers.first
    #expect(item?.counts.handled == 1 && id.words.history == [])
    stage.hub[Listener.self].unsubscribeAll()
    mortal = nil
    #expect(trace == nil && item?.subscriber == "DelegationTests.Probe (number 7)")
    #expect(item?.site == "Shop/Quota.swift:2" && id.words.history == [7])
    stage.hub.subscribe(agent, to: Secret.self)
    let suite = "DelegationTests.StatisticsTests"
    #expect(statistics.protocols.map(\.name).last == "\(suite).Secret")
    #expect(
      statistics.protocols.last?.subscribers.map(\.subscriber)
        == ["\(suite).Agent<\(suite).Cover>"])
    withExtendedLifetime(agent) {}
  }

  @Test("policies, holds and what counts for the absent are put into words as they are written")
  func words() {
    let policies: [DelegateHub.MailboxPolicy] = [.unbounded, .dropOldest(limit: 2), .latest]
    #expect(policies.map(\.description) == ["unbounded", "dropOldest(limit: 2)", "latest"])
    #expect(Set(policies).count == 3)
    #expect(DelegateHub.MailboxPolicy.dropOldest(limit: 2) != .dropOldest(limit: 3))
    #expect("\(DelegateHub.Hold.weakly), \(DelegateHub.Hold.strongly)" == "weakly, strongly")
    #expect("\(DelegateHub.Absence<Int>.abstains)" == "abstains")
    #expect("\(DelegateHub.Absence.counts(as: 3))" == "counts as 3")
  }

  @Test("totals are sums over protocols; before anybody subscribed there is nothing")
  func totals() {
    stage.hub[Listener.self].notify { _ in }
    #expect(stage.hub[Listener.self].statistics == nil && statistics.protocols.isEmpty)
    let probes = stage.cast(3)
    stage.hub.subscribe(probes[0], to: Bystander.self)
    for _ in 0..<5 { stage.hub[Listener.self].notify { _ in } }
    for _ in 0..<7 { stage.hub[Bystander.self].notify { _ in } }
    stage.run()
    #expect(stage.perform { await $0[Listener.self].vote { _ in true } } == true)
    #expect((statistics.posted, statistics.addressed) == (12, 22))
    #expect(statistics.counts.description == told(handled: 22))
    #expect(statistics.counts.addressed == 22)
    let one = stage.hub[Listener.self].statistics
    #expect(one?.name == "DelegationTests.Listener" && (one?.posted, one?.addressed) == (5, 15))
    #expect(one?.counts.description == told(handled: 15))
    #expect(one?.questions.description == asked(answered: 3) && one?.subscribers.isEmpty == true)
  }

  @Test("one that has ended is shown as long as its handler runs; what it has counted stays")
  func ended() {
    let (gate, probe) = (Gate(), Probe())
    let subscription = stage.hub.subscribe(
      probe, to: Listener.self, id: 7, fileID: "Shop/Cart.swift", line: 1)
    for number in 0..<4 {
      stage.hub[Listener.self].notify { _ in
        if number == 0 { throw Refusal() }
        if number == 1 { await gate.pass() }
      }
    }
    stage.run()
    let running = subscription.statistics
    #expect(running.subscriber == "DelegationTests.Probe (7)" && running.running == 1)
    #expect(running.site == "Shop/Cart.swift:1" && running.subscription == subscription)
    subscription.cancel()
    #expect(
      statistics.protocols[0].subscribers.last?.counts.description
        == told(failed: 1, cancelled: 2, handling: 1))
    stage.open(gate)
    let counts = told(handled: 1, failed: 1, cancelled: 2)
    #expect(subscription.statistics.counts.description == counts)
    #expect(subscription.statistics.running == 0 && statistics.counts.description == counts)
    #expect(statistics.protocols[0].subscribers.isEmpty)
  }

  @Test("subscribers are shown in their order; to look while all are ended loses nothing")
  func order() {
    let looks = Recorder<Int>()
    let probes = Probe.many(4)
    let hub = stage.hub
    for (number, probe) in probes.enumerated() {
      hub.subscribe(
        probe, to: Listener.self, priority: [0, 5, -1, 5][number], fileID: "p", line: UInt(number))
    }
    for _ in 0..<2 {
      #expect(
        statistics.protocols.first?.subscribers.map(\.site) == ["p:1", "p:3", "p:0", "p:2"])
      hub[Listener.self].notify { _ in }
      stage.run()
    }
    for _ in 0..<2 {
      // Nobody but the hub holds it: it dies in the midst of the others' ends.
      let mortal = Probe(onDeath: { looks.record(hub.statistics().counts.addressed) })
      hub.subscribe(mortal, to: Listener.self, hold: .strongly)
    }
    hub[Listener.self].notify { _ in }
    hub[Listener.self].unsubscribeAll()
    #expect(looks.history == [14, 14])
    #expect(statistics.counts.description == told(handled: 8, cancelled: 6))
  }

  @Test("who has not answered when the caller is cancelled is abandoned", arguments: [1, 3])
  func abandoned(count: Int) {
    let gate = Gate()
    stage.cast(count)
    let calls: [@Sendable (Delegates<any Listener>) async -> Bool] = [
      {
        await $0.vote { _ in
          await gate.pass()
          return true
        }
      },
      {
        await $0.vote(absent: .abstains) { _ in
          await gate.pass()
          throw Refusal()
        }
      },
      {
        await $0.askInTurn { _ in
          await gate.pass()
          return true
        } ?? false
      },
    ]
    let acts = calls.map { call in stage.start { await call($0[Listener.self]) } }
    let all = 2 * count + 1
    for act in acts { act.cancel() }
    #expect(questions == asked(answering: all))
    stage.open(gate)
    #expect(acts.map(\.result) == [true, true, true] && questions == asked(abandoned: all))
  }

  private protocol Unheard: Sendable {}

  @Test("who is gone, does not conform, or has an executor that stands still is not asked")
  func notAsked() {
    let (own, stuck, gone) = (ManualExecutor(), Probe("stuck"), Probe("gone"))
    stage.cast(3)
    let subscription = stage.hub.subscribe(gone, to: Listener.self)
    stage.hub.subscribe(Probe("mortal"), to: Listener.self)
    let delegates = stage.hub[Listener.self].conforming(to: Unheard.self)
    let outcomes = stage.perform { hub in
      [
        await delegates.vote { _ in false },
        await delegates.vote { _ in await Task { false }.value },
        await delegates.vote(within: .seconds(1), absent: .abstains) { _ in false },
        await delegates.collect { _ in 1 }.isEmpty,
        await delegates.askInTurn { _ in 1 } == nil,
        await hub[Listener.self].vote { probe in
          subscription.cancel()
          return probe.name != "gone" && probe.name != "mortal"
        },
      ]
    }
    #expect(outcomes == [true, true, true, true, true, true] && questions == asked(answered: 3))
    let isAsked = Recorder<Bool>()
    stage.hub.subscribe(stuck, to: Bystander.self, on: own)
    for _ in 0..<2 {
      let vote = stage.start { hub in
        await hub[Bystander.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in
          isAsked.record(true)
          return true
        }
      }
      stage.advance(by: .seconds(1))
      #expect(vote.result == false)
    }
    own.run()
    stage.run()
    #expect(isAsked.history.isEmpty && questions == asked(answered: 3))
    withExtendedLifetime((gone, stuck)) {}
  }
}

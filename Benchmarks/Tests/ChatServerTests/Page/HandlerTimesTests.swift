import Delegation
import NIOCore
import Testing

@testable import DelegationAdapters

@Suite("The page's times, incidents and samples")
struct HandlerTimesTests {
  private protocol Listener: AnyObject, Sendable {}
  private final class Ear: Listener {}

  private static func makeReport(
    _ times: inout HandlerTimes
  ) -> (
    running: [DelegateHub.Subscription: HandlerTimes.Running],
    histograms: [String: HandlerTimes.Histograms]
  ) {
    var running: [DelegateHub.Subscription: HandlerTimes.Running] = [:]
    var histograms: [String: HandlerTimes.Histograms] = [:]
    var most: [DelegateHub.Subscription: HandlerTimes.Most] = [:]
    _ = times.report(into: &running, &histograms, &most, at: .now)
    return (running, histograms)
  }

  @Test("of a subscription's handlers that run, the first to begin counts, whatever ends meanwhile")
  func running() {
    let hub = DelegateHub()
    let ears = [Ear(), Ear()]
    let subscriptions = ears.map { hub.subscribe($0, to: (any Listener).self) }
    var times = HandlerTimes()
    let start = ContinuousClock.now
    let first = times.begin(subscriptions[0], at: start)
    let second = times.begin(subscriptions[0], at: start + .seconds(1))
    let other = times.begin(subscriptions[1], at: start + .seconds(2))
    #expect(
      Self.makeReport(&times).running == [
        subscriptions[0]: .init(count: 2, start: start),
        subscriptions[1]: .init(count: 1, start: start + .seconds(2)),
      ])
    times.end(first, of: "Listener", waited: nil, at: start + .seconds(3))
    #expect(
      Self.makeReport(&times).running[subscriptions[0]]
        == .init(count: 1, start: start + .seconds(1)))
    // Its place is used again.
    #expect(times.begin(subscriptions[1], at: start) == first)
    for place in [first, second, other] {
      times.end(place, of: "Listener", waited: nil, at: start + .seconds(4))
    }
    #expect(Self.makeReport(&times).running.isEmpty)
    withExtendedLifetime(ears) {}
  }

  @Test("histograms are a protocol's, and its name is made once between two reports")
  func histograms() {
    let hub = DelegateHub()
    let ear = Ear()
    let subscription = hub.subscribe(ear, to: (any Listener).self)
    var times = HandlerTimes()
    var names = 0
    let start = ContinuousClock.now
    func name() -> String {
      names += 1
      return "Listener"
    }
    for _ in 1...2 {
      for waited in [Duration.microseconds(1), nil] {
        let place = times.begin(subscription, at: start)
        times.end(place, of: name(), waited: waited, at: start + .milliseconds(1))
      }
      _ = Self.makeReport(&times)
    }
    let histograms = Self.makeReport(&times).histograms["Listener"]
    #expect(histograms?.durations.counts[10] == 4)
    #expect(histograms?.durations.counts.reduce(0, +) == 4)
    #expect(histograms?.waits.counts[1] == 2)
    #expect(histograms?.waits.counts.reduce(0, +) == 2)
    #expect(names == 2)
    withExtendedLifetime(ear) {}
  }

  @Test("a flood of incidents is one line with its number, and pushes no other off")
  func incidents() async throws {
    struct Bad: Error {}
    let watch = HubWatch()
    let hub = DelegateHub(.init(onIncident: { watch.note($0) }))
    let ears = (0..<30).map { _ in Ear() }
    hub.subscribe(ears[0], to: (any Listener).self, id: "quiet", mailbox: .dropNewest(limit: 1))
    _ = await hub.ask((any Listener).self, combining: .all(), within: .zero, absent: .abstains) {
      _ in true
    }
    for _ in 0..<10 { hub.notify((any Listener).self) { _ in await Task.yield() } }
    await hub.drain()
    let before = watch.report(since: 0)
    #expect(before.incidents.map { "\($0.incident.kind)" } == ["dropped"])
    hub.unsubscribe(ears[0])
    for ear in ears[1...] { hub.subscribe(ear, to: (any Listener).self) }
    for _ in 0..<100 {
      hub.notify((any Listener).self) { _ in throw Bad() }
      // So that the hub leaves out none.
      await hub.drain()
    }
    let report = watch.report(since: before.incidentCount)
    #expect(report.incidentCount == 2901)
    // Eight lines of the place, and one of all others.
    #expect(report.incidents.count == 9)
    #expect(
      report.incidents.filter { !$0.isOfSeveral }.map(\.count) == Array(repeating: 100, count: 8))
    #expect(report.incidents.filter(\.isOfSeveral).map(\.count) == [2100])
    #expect(watch.report(since: 0).incidents.count == 10)
    #expect(watch.report(since: 2901).incidents.isEmpty)
    withExtendedLifetime(ears) {}
  }

  @Test("99 of 100 handlers of the last minute took so long, or longer if one still runs")
  func most() throws {
    let hub = DelegateHub()
    let ear = Ear()
    let subscription = hub.subscribe(ear, to: (any Listener).self)
    var times = HandlerTimes()
    let start = ContinuousClock.now
    func most(at now: ContinuousClock.Instant) -> HandlerTimes.Most? {
      var (running, histograms) =
        ([:], [:])
        as (
          [DelegateHub.Subscription: HandlerTimes.Running], [String: HandlerTimes.Histograms]
        )
      var most: [DelegateHub.Subscription: HandlerTimes.Most] = [:]
      _ = times.report(into: &running, &histograms, &most, at: now)
      return most[subscription]
    }
    _ = most(at: start)
    func take(_ duration: Duration, _ count: Int) {
      for _ in 0..<count {
        let place = times.begin(subscription, at: start)
        times.end(place, of: "Listener", waited: nil, at: start + duration)
      }
    }
    take(.microseconds(3), 99)
    take(.seconds(1), 1)
    #expect(most(at: start) == .init(duration: .microseconds(4), isAtLeast: false))
    let place = times.begin(subscription, at: start)
    _ = times.begin(subscription, at: start)
    #expect(
      most(at: start + .seconds(5)) == .init(duration: .seconds(5), isAtLeast: true))
    times.end(place, of: "Listener", waited: nil, at: start + .seconds(5))
    // What is older than a minute is forgotten, what runs is not.
    _ = most(at: start + .seconds(40))
    #expect(most(at: start + .seconds(80)) == .init(duration: .seconds(80), isAtLeast: true))
    withExtendedLifetime(ear) {}
  }

  @Test("a watch measures while somebody looks, and nothing otherwise")
  func watch() async throws {
    let watch = HubWatch()
    let hub = DelegateHub(.init(interceptors: [watch]))
    let ear = Ear()
    let subscription = hub.subscribe(ear, to: (any Listener).self)
    let (steps, step) = AsyncStream<Void>.makeStream()
    let (begun, begin) = AsyncStream<Void>.makeStream()
    func post() {
      hub.notify((any Listener).self) { _ in
        begin.yield()
        var iterator = steps.makeAsyncIterator()
        await iterator.next()
      }
    }
    post()
    for await _ in begun { break }
    #expect(watch.report(since: 0).running.isEmpty)
    // What has begun before somebody looks is not known when it ends, either.
    await watch.looking {
      step.yield()
      await hub.drain()
    }
    #expect(watch.report(since: 0).histograms.isEmpty)
    await watch.looking {
      post()
      for await _ in begun { break }
      #expect(watch.report(since: 0).running[subscription]?.count == 1)
    }
    #expect(!watch.isLooking)
    step.yield()
    await hub.drain()
    let report = watch.report(since: 0)
    #expect(report.running.isEmpty)
    #expect(report.histograms.values.map { $0.durations.counts.reduce(0, +) } == [1])
    #expect(report.histograms.values.map { $0.waits.counts.reduce(0, +) } == [1])
    withExtendedLifetime(ear) {}
  }

  @Test("of very many subscribers those with the most trouble have figures, and the sums have all")
  func rowLimit() async throws {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let ears = (0..<10).map { _ in Ear() }
    let troubled = Ear()
    for ear in ears { hub.subscribe(ear, to: (any Listener).self) }
    hub.subscribe(troubled, to: (any Listener).self, id: "troubled", mailbox: .dropNewest(limit: 1))
    let (gate, open) = AsyncStream<Void>.makeStream()
    for _ in 0..<5 {
      hub.notify((any Listener).self) { ear in if ear === troubled { for await _ in gate {} } }
    }
    while await hub.statistics().counts.handled < 50 { await Task.yield() }
    var sampler = Sampler(rowLimit: 3)
    let statistics = await hub.statistics()
    let sample = Sampler.Hub(
      name: "hub", identity: ObjectIdentifier(hub), statistics: statistics)
    let frame = sampler.frame(of: [sample], .init(), at: .now, withAll: true)
    let figures = String(buffer: frame.figures)
    #expect(figures.contains(#""left":8,"#))
    #expect(figures.contains(#""size":11,"#))
    let texts = String(buffer: try #require(frame.all))
    #expect(texts.ranges(of: "HandlerTimesTests.swift:").count == 3)
    #expect(texts.contains("troubled"))
    open.finish()
    await hub.drain()
    withExtendedLifetime((ears, troubled)) {}
  }

  @Test("what went wrong long ago hides nobody who is in trouble now; all that was lost counts")
  func oldTrouble() async throws {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let (former, present) = (Ear(), Ear())
    hub.subscribe(former, to: (any Listener).self, id: "former", mailbox: .dropNewest(limit: 1))
    hub.subscribe(present, to: (any Listener).self, id: "present")
    func hold(_ held: Ear, at gate: AsyncStream<Void>) {
      for _ in 0..<5 {
        hub.notify((any Listener).self) { ear in if ear === held { for await _ in gate {} } }
      }
    }
    let (gate, open) = AsyncStream<Void>.makeStream()
    hold(former, at: gate)
    open.finish()
    await hub.drain()
    let lost = await hub.statistics().counts.dropped
    #expect(lost > 0)
    let (second, openSecond) = AsyncStream<Void>.makeStream()
    hold(present, at: second)
    // The former one has nothing to do any more.
    while await hub.statistics().counts.handled + hub.statistics().counts.dropped < 15 {
      await Task.yield()
    }
    var sampler = Sampler(rowLimit: 1)
    let statistics = await hub.statistics()
    let frame = sampler.frame(
      of: [.init(name: "hub", identity: ObjectIdentifier(hub), statistics: statistics)],
      .init(), at: .now, withAll: true)
    let texts = String(buffer: try #require(frame.all))
    #expect(texts.contains("(present)") && !texts.contains("(former)"), "\(texts)")
    // What waited is cancelled.
    hub.unsubscribe(present)
    openSecond.finish()
    await hub.drain()
    let counts = await hub.statistics().counts
    #expect(counts.cancelled > 0)
    let sums = PageHistory.Sums([await hub.statistics()], at: 0)
    #expect(sums.values == [counts.handled, 0, 0, 0, counts.dropped + counts.cancelled, 0, 0])
    withExtendedLifetime((former, present)) {}
  }
}

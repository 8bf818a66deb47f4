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
    _ = times.report(into: &running, &histograms)
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

  @Test("the last incidents are kept, by their numbers")
  func incidents() async throws {
    struct Bad: Error {}
    let watch = HubWatch()
    let hub = DelegateHub(.init(onIncident: { watch.note($0) }))
    let ear = Ear()
    hub.subscribe(ear, to: (any Listener).self)
    #expect(watch.report(since: 0).incidents.isEmpty)
    for count in [3, 60] {
      for _ in 0..<count { hub.notify((any Listener).self) { _ in throw Bad() } }
      await hub.drain()
    }
    let report = watch.report(since: 0)
    #expect(report.incidentCount == 63)
    #expect(report.incidents.map(\.number) == Array(13..<63))
    #expect(watch.report(since: 61).incidents.map(\.number) == [61, 62])
    #expect(watch.report(since: 63).incidents.isEmpty)
    #expect(watch.report(since: 100).incidents.isEmpty)
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
}

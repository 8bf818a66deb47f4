import Delegation
import InMemoryTracing
import Metrics
import MetricsTestKit
import ServiceContextModule
import Testing
import Tracing

@Suite("Samples of a server: metrics and tracing", .timeLimit(.minutes(10)))
struct ObservabilitySamples {
  private protocol RequestDelegate: AnyObject, Sendable {
    func didReceive(_ request: String) async
  }

  final class Audit: RequestDelegate {
    func didReceive(_ request: String) async {
      await withSpan("audit") { span in
        span.attributes["request"] = request
        await store(request)
      }
    }
  }

  // sample: Metrics
  /// Reports a hub's statistics; to be called every few seconds.
  func report(_ hub: DelegateHub) async {
    for part in await hub.statistics().protocols {
      let dimensions = [("protocol", part.name)]
      func set(_ label: String, _ value: Int) {
        Meter(label: "delegation_\(label)", dimensions: dimensions).set(value)
      }
      set("waiting", part.counts.waiting)
      set("handled", part.counts.handled)
      set("failed", part.counts.failed)
      set("dropped", part.counts.dropped)
      set("expired", part.counts.expired)
      set("cancelled", part.counts.cancelled)
    }
  }
  // end of sample

  @Test("the account goes to the metrics system")
  func metrics() async throws {
    let hub = DelegateHub()
    let audit = Audit()
    hub.subscribe(audit, to: RequestDelegate.self)
    for _ in 0..<3 { hub.notify(RequestDelegate.self) { _ in } }
    await hub.drain()
    let metrics = TestMetrics()
    await withMetricsFactory(metrics) { await report(hub) }
    func last(_ label: String) throws -> Double? {
      let meter = try #require(metrics.meters(label: "delegation_\(label)").first)
      return meter.values.last
    }
    #expect(try last("handled") == 3)
    #expect(try last("waiting") == 0)
    #expect(metrics.meters.count == 6)
  }

  @Test("a handler's span is a child of the poster's")
  func tracing() async {
    let tracer = InMemoryTracer()
    InstrumentationSystem.bootstrap(tracer)
    // sample: Tracing
    var configuration = DelegateHub.Configuration()
    configuration.propagating = [.taskLocal(ServiceContext.$current)]
    let hub = DelegateHub(configuration)
    // end of sample
    let audit = Audit()
    hub.subscribe(audit, to: RequestDelegate.self)
    let request = "GET /"
    // sample: A traced poster
    withSpan("request") { _ in
      hub.notify(RequestDelegate.self) { await $0.didReceive(request) }
    }
    // end of sample
    await hub.drain()
    let spans = tracer.finishedSpans
    #expect(Set(spans.map(\.operationName)) == ["request", "audit"])
    let posting = spans.first { $0.operationName == "request" }
    let handling = spans.first { $0.operationName == "audit" }
    #expect(posting != nil)
    #expect(handling?.parentSpanID == posting?.spanID)
  }

  @Test("task-locals are named when the hub is made")
  func propagating() {
    // sample: TaskLocalPropagation
    var configuration = DelegateHub.Configuration()
    configuration.propagating = [.taskLocal(ServiceContext.$current)]
    // end of sample
    #expect(configuration.propagating.count == 1)
  }
}

extension ObservabilitySamples.Audit {
  fileprivate func store(_ request: String) async {
    await Task.yield()
  }
}

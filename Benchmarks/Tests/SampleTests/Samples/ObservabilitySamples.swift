import Delegation
import InMemoryTracing
import ServiceContextModule
import Testing
import Tracing

@Suite("Samples of a server: tracing", .timeLimit(.minutes(10)))
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

  @Test("a handler's span is a child of the poster's")
  func tracing() async {
    let tracer = InMemoryTracer()
    InstrumentationSystem.bootstrap(tracer)
    var configuration = DelegateHub.Configuration()
    configuration.propagating = [.taskLocal(ServiceContext.$current)]
    let hub = DelegateHub(configuration)
    let audit = Audit()
    hub.subscribe(audit, to: RequestDelegate.self)
    let request = "GET /"
    withSpan("request") { _ in
      hub.notify(RequestDelegate.self) { await $0.didReceive(request) }
    }
    await hub.drain()
    // The tracer is the program's: beside these spans are those of other tests.
    let spans = tracer.finishedSpans
    let posting = spans.first { $0.operationName == "request" }
    let handling = spans.first { $0.operationName == "audit" }
    #expect(posting != nil)
    let names = spans.filter { $0.traceID == posting?.traceID }.map(\.operationName)
    #expect(Set(names) == ["request", "audit"])
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

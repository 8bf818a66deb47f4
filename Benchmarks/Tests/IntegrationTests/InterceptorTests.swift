import Delegation
import DelegationAdapters
import DelegationTesting
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Testing
import Tracing

private protocol Gate: AnyObject, Sendable {
  func mayPass(_ guest: String) async throws -> Bool
}

private protocol Diary: AnyObject, Sendable {
  func didPass(_ guest: String) async throws
}

/// Asks a list of its own, by a hub of its own.
private final class Doorman: Gate {
  let lists: DelegateHub
  init(_ lists: DelegateHub) { self.lists = lists }

  func mayPass(_ guest: String) async -> Bool {
    await lists.vote(Gate.self) { try await $0.mayPass(guest) }
  }
}

private final class List: Gate, Diary {
  let body: @Sendable (String) async throws -> Bool
  init(_ body: @escaping @Sendable (String) async throws -> Bool = { _ in true }) {
    self.body = body
  }

  func mayPass(_ guest: String) async throws -> Bool { try await body(guest) }
  func didPass(_ guest: String) async throws { _ = try await body(guest) }
}

extension DelegateHub {
  fileprivate func vote(
    _ type: (any Gate).Type, _ body: @escaping @Sendable (any Gate) async throws -> Bool
  ) async -> Bool {
    await vote(type, absent: .counts(as: false), body)
  }
}

private struct Full: Error {}

@Suite("Interceptors for tracing, metrics and logs", .timeLimit(.minutes(10)))
struct InterceptorTests {
  private func hub(_ interceptors: any DelegateHub.Interceptor...) -> DelegateHub {
    DelegateHub(
      .init(
        onIncident: { _ in }, propagating: [.taskLocal(ServiceContext.$current)],
        interceptors: interceptors))
  }

  /// The spans as a tree, each under its parent.
  private func tree(_ tracer: InMemoryTracer, under parent: String? = nil, depth: Int = 0)
    -> [String]
  {
    tracer.finishedSpans.filter { $0.parentSpanID == parent }.sorted { $0.spanID < $1.spanID }
      .flatMap { span in
        let indent = String(repeating: "  ", count: depth)
        let subscriber = span.attributes["delegation.subscriber"].map { " \($0)" } ?? ""
        let status = span.status.map { " \($0.code)" } ?? ""
        return ["\(indent)\(span.operationName) [\(span.kind)]\(status)\(name(subscriber))"]
          + tree(tracer, under: span.spanID, depth: depth + 1)
      }
  }

  private func name(_ attribute: String) -> String {
    guard let start = attribute.range(of: "IntegrationTests.") else { return "" }
    return " " + attribute[start.upperBound...].prefix { $0 != "\"" && $0 != ")" }
  }

  @Test("a request's spans: vote, the hub within it, and the notification after it")
  func trace() async throws {
    let tracer = InMemoryTracer(idGenerator: .incrementing)
    let (door, lists) = (hub(TracingInterceptor(tracer)), hub(TracingInterceptor(tracer)))
    let (doorman, list, diary) = (Doorman(lists), List(), List { _ in throw Full() })
    door.subscribe(doorman, to: Gate.self)
    door.subscribe(diary, to: Diary.self, id: "diary")
    lists.subscribe(list, to: Gate.self)
    await tracer.withSpan("GET /party", ofKind: .server) { _ in
      if await door.vote(Gate.self, { try await $0.mayPass("Alice") }) {
        door.notify(Diary.self) { try await $0.didPass("Alice") }
      }
    }
    await door.drain()
    let spans = tree(tracer)
    print(spans.joined(separator: "\n"))
    #expect(
      spans == [
        "GET /party [server]",
        "  vote IntegrationTests.Gate [internal] Doorman",
        "    vote IntegrationTests.Gate [internal] List",
        "  notify IntegrationTests.Diary [consumer] error List (diary",
      ])
    let notified = try #require(tracer.finishedSpans.first { $0.operationName.hasPrefix("notify") })
    #expect(Set(tracer.finishedSpans.map(\.traceID)).count == 1)
    #expect(notified.attributes["messaging.destination.name"] == "IntegrationTests.Diary")
    #expect(notified.attributes["messaging.operation.name"] == "notify")
    #expect(notified.attributes["delegation.waited"] != nil)
    #expect(notified.attributes["error.type"] == "IntegrationTests.Full")
    #expect(notified.errors.count == 1)
    let asked = try #require(tracer.finishedSpans.first { $0.operationName.hasPrefix("vote") })
    #expect(asked.attributes["rpc.service"] == "IntegrationTests.Gate")
    #expect(asked.attributes["rpc.method"] == "vote")
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test("timers for handlers and for the time in the mailbox")
  func metrics() async throws {
    let metrics = TestMetrics()
    let hub = hub(MetricsInterceptor(named: "door", factory: metrics))
    let (list, full) = (List(), List { _ in throw Full() })
    hub.subscribe(list, to: Gate.self)
    hub.subscribe(list, to: Diary.self)
    hub.subscribe(full, to: Diary.self)
    _ = await hub.vote(Gate.self) { try await $0.mayPass("Alice") }
    await hub.notifyAndWait(Diary.self) { try await $0.didPass("Alice") }
    func count(_ label: String, _ dimensions: [(String, String)]) -> Int {
      (try? metrics.expectTimer(label, dimensions))?.values.count ?? 0
    }
    let gate = [("protocol", "IntegrationTests.Gate"), ("call", "vote")]
    let diary = [("protocol", "IntegrationTests.Diary"), ("call", "notifyAndWait")]
    #expect(count("door_handler_duration", gate + [("outcome", "returned")]) == 1)
    #expect(count("door_handler_duration", diary + [("outcome", "returned")]) == 1)
    #expect(count("door_handler_duration", diary + [("outcome", "failed")]) == 1)
    #expect(count("door_notification_wait", diary) == 2)
    #expect(metrics.timers.count == 4)
  }

  @Test("handlers have a logger of their own, and what fails or is slow is logged")
  func logging() async {
    let log = InMemoryLogHandler()
    let clock = ManualClock()
    let hub = hub(
      LoggingInterceptor(
        Logger(label: "door") { _ in log }, slowAfter: .seconds(1), clock: clock))
    let list = List { guest in
      Logger.current.info("\(guest)")
      if guest == "Slow" { clock.advance(by: .seconds(2)) }
      if guest == "Mallory" { throw Full() }
      return true
    }
    hub.subscribe(list, to: Gate.self, id: 7)
    hub.subscribe(list, to: Diary.self)
    await hub.notifyAndWait(Diary.self) { try await $0.didPass("Slow") }
    var request = Logger(label: "request") { _ in log }
    request[metadataKey: "request"] = "r1"
    await withLogger(request) { _ in
      _ = await hub.vote(Gate.self) { try await $0.mayPass("Mallory") }
    }
    let entries = log.entries
    #expect(
      entries.map { "\($0.level) \($0.message)" } == [
        "info Slow", "warning handler was slow", "info Mallory", "error handler failed",
      ])
    #expect(entries[0].metadata["delegation.protocol"] == "IntegrationTests.Diary")
    #expect(entries[0].metadata["delegation.call"] == "notifyAndWait")
    #expect(entries[1].metadata["delegation.duration"] == "2.0 seconds")
    #expect(entries[2].metadata["request"] == "r1")
    #expect(entries[2].metadata["delegation.subscriber"] == "IntegrationTests.List (7)")
    #expect(entries[3].metadata["request"] == "r1")
    #expect(entries[3].error is Full)
  }
}

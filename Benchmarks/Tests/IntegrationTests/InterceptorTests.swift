import Delegation
import DelegationAdapters
import DelegationTesting
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import Testing
import Tracing

protocol PartyGate: AnyObject, Sendable {
  func mayPass(_ guest: String) async throws -> Bool
}

protocol PartyDiary: AnyObject, Sendable {
  func didPass(_ guest: String) async throws
}

/// Asks a list of its own, by a hub of its own.
final class Doorman: PartyGate {
  let lists: DelegateHub
  init(_ lists: DelegateHub) { self.lists = lists }

  func mayPass(_ guest: String) async -> Bool {
    await lists.vote((any PartyGate).self, absent: .counts(as: false)) {
      try await $0.mayPass(guest)
    }
  }
}

final class GuestList: PartyGate, PartyDiary {
  let body: @Sendable (String) async throws -> Bool
  init(_ body: @escaping @Sendable (String) async throws -> Bool = { _ in true }) {
    self.body = body
  }

  func mayPass(_ guest: String) async throws -> Bool { try await body(guest) }
  func didPass(_ guest: String) async throws { _ = try await body(guest) }
}

struct DiaryFull: Error {}

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
        var subscriber = ""
        if case .string(let name)? = span.attributes.get("delegation.subscriber") {
          subscriber = " " + name
        }
        let status = span.status.map { " \($0.code)" } ?? ""
        return ["\(indent)\(span.operationName) [\(span.kind)]\(status)\(subscriber)"]
          + tree(tracer, under: span.spanID, depth: depth + 1)
      }
  }

  @Test("a voter that throws because it was cancelled is no fault")
  func abandoned() async throws {
    let (tracer, metrics) = (InMemoryTracer(idGenerator: .incrementing), TestMetrics())
    let log = InMemoryLogHandler()
    let door = hub(
      TracingInterceptor(tracer), MetricsInterceptor(named: "door", factory: metrics),
      LoggingInterceptor(Logger(label: "door") { _ in log }))
    let waiting = AsyncStream<Void>.makeStream()
    let patient = GuestList { _ in
      waiting.continuation.finish()
      try await Task.sleep(for: .seconds(600))
      return true
    }
    let strict = GuestList { _ in
      for await _ in waiting.stream {}
      return false
    }
    door.subscribe(patient, to: (any PartyGate).self)
    door.subscribe(strict, to: (any PartyGate).self)
    let isWelcome = await door.vote((any PartyGate).self, absent: .abstains) {
      try await $0.mayPass("Mallory")
    }
    await door.drain()
    #expect(!isWelcome)
    #expect(tracer.finishedSpans.count == 2)
    #expect(tracer.finishedSpans.allSatisfy { $0.status == nil })
    #expect(log.entries.isEmpty)
    let outcomes = metrics.timers.flatMap(\.dimensions).filter { $0.0 == "outcome" }.map(\.1)
    #expect(outcomes.sorted() == ["abandoned", "returned"])
    #expect(await door.statistics().questions.abandoned == 1)
  }

  @Test("a request's spans: vote, the hub within it, and the notification after it")
  func trace() async throws {
    let tracer = InMemoryTracer(idGenerator: .incrementing)
    let (door, lists) = (hub(TracingInterceptor(tracer)), hub(TracingInterceptor(tracer)))
    let (doorman, list, diary) = (Doorman(lists), GuestList(), GuestList { _ in throw DiaryFull() })
    door.subscribe(doorman, to: (any PartyGate).self)
    door.subscribe(diary, to: (any PartyDiary).self, id: "diary")
    lists.subscribe(list, to: (any PartyGate).self)
    await tracer.withSpan("GET /party", ofKind: .server) { _ in
      if await door.vote(
        (any PartyGate).self, absent: .counts(as: false), { try await $0.mayPass("Alice") })
      {
        door.notify((any PartyDiary).self) { try await $0.didPass("Alice") }
      }
    }
    await door.drain()
    let spans = tree(tracer)
    print(spans.joined(separator: "\n"))
    #expect(
      spans == [
        "GET /party [server]",
        "  vote IntegrationTests.PartyGate [internal] IntegrationTests.Doorman",
        "    vote IntegrationTests.PartyGate [internal] IntegrationTests.GuestList",
        "  notify IntegrationTests.PartyDiary [consumer] error IntegrationTests.GuestList (diary)",
      ])
    let notified = try #require(tracer.finishedSpans.first { $0.operationName.hasPrefix("notify") })
    #expect(Set(tracer.finishedSpans.map(\.traceID)).count == 1)
    #expect(
      notified.attributes.get("messaging.destination.name")
        == .string("IntegrationTests.PartyDiary"))
    #expect(notified.attributes.get("messaging.operation.name") == .string("notify"))
    #expect(notified.attributes.get("delegation.waited") != nil)
    #expect(notified.attributes.get("error.type") == .string("IntegrationTests.DiaryFull"))
    #expect(notified.errors.count == 1)
    let asked = try #require(tracer.finishedSpans.first { $0.operationName.hasPrefix("vote") })
    #expect(asked.attributes.get("rpc.service") == .string("IntegrationTests.PartyGate"))
    #expect(asked.attributes.get("rpc.method") == .string("vote"))
    #expect(tracer.activeSpans.isEmpty)
  }

  @Test("timers for handlers and for the time in the mailbox")
  func metrics() async throws {
    let metrics = TestMetrics()
    let hub = hub(MetricsInterceptor(named: "door", factory: metrics))
    let (list, full) = (GuestList(), GuestList { _ in throw DiaryFull() })
    hub.subscribe(list, to: (any PartyGate).self)
    hub.subscribe(list, to: (any PartyDiary).self)
    hub.subscribe(full, to: (any PartyDiary).self)
    _ = await hub.vote((any PartyGate).self, absent: .counts(as: false)) {
      try await $0.mayPass("Alice")
    }
    await hub.notifyAndWait((any PartyDiary).self) { try await $0.didPass("Alice") }
    func count(_ label: String, _ dimensions: [(String, String)]) -> Int {
      (try? metrics.expectTimer(label, dimensions))?.values.count ?? 0
    }
    let gate = [("protocol", "IntegrationTests.PartyGate"), ("call", "vote")]
    let diary = [("protocol", "IntegrationTests.PartyDiary"), ("call", "notifyAndWait")]
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
    let list = GuestList { guest in
      Logger.current.info("\(guest)")
      if guest == "Slow" { clock.advance(by: .seconds(2)) }
      if guest == "Mallory" { throw DiaryFull() }
      return true
    }
    hub.subscribe(list, to: (any PartyGate).self, id: 7)
    hub.subscribe(list, to: (any PartyDiary).self)
    await hub.notifyAndWait((any PartyDiary).self) { try await $0.didPass("Slow") }
    var request = Logger(label: "request") { _ in log }
    request[metadataKey: "request"] = "r1"
    await withLogger(request) { _ in
      _ = await hub.vote((any PartyGate).self, absent: .counts(as: false)) {
        try await $0.mayPass("Mallory")
      }
    }
    let entries = log.entries
    #expect(
      entries.map { "\($0.level) \($0.message)" } == [
        "info Slow", "warning handler was slow", "info Mallory", "error handler failed",
      ])
    #expect(entries[0].metadata["delegation.protocol"] == "IntegrationTests.PartyDiary")
    #expect(entries[0].metadata["delegation.call"] == "notifyAndWait")
    #expect(entries[1].metadata["delegation.duration"] == "2.0 seconds")
    #expect(entries[2].metadata["request"] == "r1")
    #expect(entries[2].metadata["delegation.subscriber"] == "IntegrationTests.GuestList (7)")
    #expect(entries[3].metadata["request"] == "r1")
    #expect(entries[3].error is DiaryFull)
  }
}

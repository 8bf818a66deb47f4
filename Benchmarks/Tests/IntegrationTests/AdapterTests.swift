import Delegation
import DelegationAdapters
import DelegationTesting
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import ServiceContextModule
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing
import Tracing

private protocol Gate: AnyObject, Sendable {
  func mayPass(_ guest: String) async throws -> Bool
}

private protocol Diary: AnyObject, Sendable {
  func didPass(_ guest: String) async throws
}

private struct Full: Error {}

private final class Book: Gate, Diary {
  let body: @Sendable (String) async throws -> Bool
  init(_ body: @escaping @Sendable (String) async throws -> Bool = { _ in true }) {
    self.body = body
  }
  init(stuckUntil opened: AsyncStream<Void>) {
    body = { _ in await opened.first { _ in true } == nil }
  }

  func mayPass(_ guest: String) async throws -> Bool { try await body(guest) }
  func didPass(_ guest: String) async throws { _ = try await body(guest) }
}

@Suite("The adapters for servers", .timeLimit(.minutes(5)))
struct AdapterTests {
  private let log = InMemoryLogHandler()
  private var logger: Logger { Logger(label: "door") { [log] _ in log } }

  private func hub(_ interceptors: any DelegateHub.Interceptor...) -> DelegateHub {
    DelegateHub(
      .init(
        onIncident: { [logger] in logger.report($0) },
        propagating: [.taskLocal(ServiceContext.$current)], interceptors: interceptors))
  }

  private func ask(_ hub: DelegateHub, _ guest: String) async -> Bool {
    await hub[(any Gate).self].vote(by: .unanimous(ofAtLeast: 1), absent: .counts(as: false)) {
      try await $0.mayPass(guest)
    }
  }

  @Test("handlers have a logger of their own, and a failure is one line: W13")
  func logging() async {
    let hub = hub(LoggingInterceptor(logger))
    let book = Book { guest in
      Logger.current.info("\(guest)")
      if guest == "Mallory" { throw Full() }
      return true
    }
    hub.subscribe(book, to: (any Gate).self, id: 7)
    hub.subscribe(book, to: (any Diary).self)
    await hub[(any Diary).self].notifyAndWait { try await $0.didPass("Mallory") }
    await hub.drain()
    var request = logger
    request[metadataKey: "request"] = "r1"
    #expect(await withLogger(request) { _ in await ask(hub, "Ann") })
    let entries = log.entries
    #expect(entries.map { "\($0.level)" } == ["info", "error", "info"])
    #expect(entries[0].metadata["delegation.call"] == "notifyAndWait")
    #expect("\(entries[1].message)".contains("failed in notifyAndWait: Full()"))
    #expect(entries[1].metadata["delegation.kind"] == "failed")
    #expect(entries[2].metadata["request"] == "r1")
    #expect(entries[2].metadata["delegation.subscriber"] == "IntegrationTests.Book (7)")
  }

  @Test("a span for each handler, below the caller's or the poster's")
  func tracing() async throws {
    let tracer = InMemoryTracer(idGenerator: .incrementing)
    let hub = hub(TracingInterceptor(tracer))
    let (book, full) = (Book(), Book { _ in throw Full() })
    hub.subscribe(book, to: (any Gate).self)
    hub.subscribe(full, to: (any Diary).self)
    let request = tracer.startSpan("request", context: .topLevel)
    await ServiceContext.withValue(request.context) {
      #expect(await ask(hub, "Ann"))
      hub[(any Diary).self].notify { try await $0.didPass("Ann") }
    }
    request.end()
    await hub.drain()
    let spans = tracer.finishedSpans
    #expect(
      Set(spans.map(\.operationName)) == [
        "request", "vote IntegrationTests.Gate", "notify IntegrationTests.Diary",
      ])
    let root = try #require(spans.first { $0.operationName == "request" })
    #expect(spans.filter { $0.parentSpanID == root.spanID }.count == 2)
    let failed = try #require(spans.first { $0.status?.code == .error })
    #expect(failed.kind == .consumer && failed.errors.count == 1)
  }

  @Test("timers for handlers and for the time in the mailbox, and counters for what became of all")
  func metrics() async throws {
    let metrics = TestMetrics()
    let hub = hub(MetricsInterceptor(named: "door", factory: metrics))
    let (book, full) = (Book(), Book { _ in throw Full() })
    hub.subscribe(book, to: (any Gate).self)
    hub.subscribe(book, to: (any Diary).self)
    hub.subscribe(full, to: (any Diary).self)
    #expect(await ask(hub, "Ann"))
    let reporter = HubMetrics(named: "door", factory: metrics) { [hub] }
    let service = HubMetricsService(reporter, every: .seconds(3600))
    await hub[(any Diary).self].notifyAndWait { try await $0.didPass("Ann") }
    await reporter.report()
    await hub[(any Diary).self].notifyAndWait { try await $0.didPass("Bob") }
    // The last report counts what has come since the one before.
    await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      await service.run()
    }
    let diary = [("protocol", "IntegrationTests.Diary")]
    let timed = diary + [("call", "notifyAndWait")]
    for outcome in ["returned", "failed"] {
      let timer = try metrics.expectTimer("door_handler_duration", timed + [("outcome", outcome)])
      #expect(timer.values.count == 2)
    }
    #expect(try metrics.expectTimer("door_notification_wait", timed).values.count == 4)
    for outcome in ["handled", "failed"] {
      let counter = try metrics.expectCounter(
        "door_notifications_total", diary + [("outcome", outcome)])
      #expect(counter.totalValue == 2)
    }
    #expect(try metrics.expectMeter("door_subscribers", diary).lastValue == 2)
    #expect(try metrics.expectMeter("door_notifications_waiting", diary).lastValue == 0)
  }

  @Test("a service that drains names who is left, and one that is cancelled drains as well")
  func draining() async throws {
    let (opened, open) = AsyncStream<Void>.makeStream()
    let hub = hub()
    let book = Book(stuckUntil: opened)
    hub.subscribe(book, to: (any Diary).self, id: "stuck")
    hub[(any Diary).self].notify { try await $0.didPass("Ann") }
    let short = DrainService(within: .milliseconds(1), logger: logger) { [hub] }
    try await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      try await short.run()
    }
    #expect(log.entries.map { "\($0.message)" } == ["not drained"])
    #expect(log.entries[0].metadata["subscriber"] == "IntegrationTests.Book (stuck)")
    #expect(log.entries[0].metadata["running"] == "1")
    let long = DrainService(within: .seconds(60), logger: logger) { [hub] }
    let service = Task { try await long.run() }
    service.cancel()
    open.finish()
    try await service.value
    #expect(hub.statistics().counts.handled == 1)
    #expect(log.entries.count == 1)
  }

  @Test(
    "a subscriber whose handler hangs is given up at the deadline, and one that is quick is not: W9"
  )
  func deadline() async {
    let (given, giveUp) = AsyncStream<String>.makeStream()
    let (opened, open) = AsyncStream<Void>.makeStream()
    let hub = hub(
      DeadlineInterceptor(after: .seconds(1), logger: logger) { giveUp.yield($0.subscriber) })
    let (stuck, quick) = (Book(stuckUntil: opened), Book())
    hub.subscribe(stuck, to: (any Diary).self, id: "stuck")
    hub.subscribe(quick, to: (any Diary).self, id: "quick")
    for _ in 0..<2 { hub[(any Diary).self].notify { try await $0.didPass("Ann") } }
    // Who waits for it goes on once it is given up.
    let outcome = await hub[(any Diary).self].notifyAndWait { try await $0.didPass("Bob") }
    #expect((outcome.handled, outcome.missed) == (1, 1))
    #expect(await given.first { _ in true } == "IntegrationTests.Book (stuck)")
    #expect(hub[(any Diary).self].count == 1)
    // One failure is one line.
    #expect(log.entries.map { "\($0.level)" } == ["error"])
    #expect("\(log.entries[0].message)".hasSuffix("hung in notify and was given up"))
    open.finish()
    await hub.drain()
    let counts = hub.statistics().counts
    #expect((counts.handled, counts.cancelled) == (4, 2))
  }
}

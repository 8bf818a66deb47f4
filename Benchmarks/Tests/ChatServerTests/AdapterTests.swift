import Delegation
import DelegationAdapters
import Logging
import MetricsTestKit
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite("Adapters", .timeLimit(.minutes(10)))
struct AdapterTests {
  private protocol Listener: AnyObject, Sendable {
    func hear(_ number: Int) async throws
  }

  private struct Bad: Error {}

  /// Fails at even numbers.
  private final class Picky: Listener {
    func hear(_ number: Int) async throws {
      if number.isMultiple(of: 2) { throw Bad() }
    }
  }

  /// Counts, once it is let.
  private final class Patient: Listener {
    let heard = Atomic(0)
    private let gate = AsyncStream<Void>.makeStream()

    func hear(_ number: Int) async throws {
      for await _ in gate.stream {}
      heard.add(1, ordering: .relaxed)
    }

    func open() {
      gate.continuation.finish()
    }
  }

  /// The hubs that there are.
  private final class Hubs: Sendable {
    private let hubs: Mutex<[DelegateHub]>

    init(_ hubs: [DelegateHub]) { self.hubs = Mutex(hubs) }

    var all: [DelegateHub] { hubs.withLock { $0 } }
    func forget() { hubs.withLock { $0 = [] } }
  }

  private static func makeQuietHub() -> DelegateHub {
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { _ in }
    return DelegateHub(configuration)
  }

  private static func totals(
    of label: String, _ outcome: String, in factory: TestMetrics
  ) -> [Int64] {
    factory.counters(label: label)
      .filter { counter in counter.dimensions.contains { $0 == ("outcome", outcome) } }
      .map(\.totalValue)
  }

  @Test("metrics report what has happened since the last time, and what there is")
  func metrics() async throws {
    let hub = Self.makeQuietHub()
    let picky = Picky()
    hub.subscribe(picky, to: (any Listener).self)
    let factory = TestMetrics()
    let metrics = HubMetrics(hub, named: "test", factory: factory)
    for round in 1...2 {
      for number in 1...5 { hub.notify((any Listener).self) { try await $0.hear(number) } }
      #expect(await hub.drain().isEmpty)
      await metrics.report()
      for (outcome, count) in [("handled", 3), ("failed", 2)] {
        #expect(
          Self.totals(of: "test_notifications_total", outcome, in: factory) == [
            Int64(count * round)
          ])
      }
    }
    #expect(factory.meters(label: "test_subscribers").map(\.lastValue) == [1])
    #expect(factory.meters(label: "test_notifications_waiting").map(\.lastValue) == [0])
    withExtendedLifetime(picky) {}
  }

  @Test("so they do of questions")
  func metricsOfQuestions() async throws {
    let hub = Self.makeQuietHub()
    let picky = Picky()
    hub.subscribe(picky, to: (any Listener).self)
    let factory = TestMetrics()
    let metrics = HubMetrics(hub, named: "test", factory: factory)
    for number in 1...5 {
      _ = await hub.vote((any Listener).self, absent: .abstains) {
        try await $0.hear(number)
        return true
      }
    }
    await metrics.report()
    await metrics.report()
    for (outcome, count) in [("answered", 3), ("failed", 2)] {
      #expect(
        Self.totals(of: "test_questions_total", outcome, in: factory) == [Int64(count)])
    }
    #expect(factory.counters(label: "test_questions_total").count == 2)
    #expect(factory.meters(label: "test_questions_answering").map(\.lastValue) == [0])
    withExtendedLifetime(picky) {}
  }

  @Test("when a hub is gone, its meters show nothing, and its counters stay")
  func metricsOfGoneHub() async throws {
    let hub = Self.makeQuietHub()
    let hubs = Hubs([hub])
    let picky = Picky()
    let factory = TestMetrics()
    let metrics = HubMetrics(named: "test", factory: factory) { hubs.all }
    hub.subscribe(picky, to: (any Listener).self)
    hub.notify((any Listener).self) { try await $0.hear(1) }
    #expect(await hub.drain().isEmpty)
    await metrics.report()
    #expect(factory.meters(label: "test_subscribers").map(\.lastValue) == [1])
    hubs.forget()
    await metrics.report()
    #expect(factory.meters(label: "test_subscribers").map(\.lastValue) == [0])
    #expect(factory.meters(label: "test_notifications_waiting").map(\.lastValue) == [0])
    #expect(factory.counters(label: "test_notifications_total").map(\.totalValue) == [1])
    withExtendedLifetime(picky) {}
  }

  @Test("at a graceful shutdown a drain service settles first, then waits for what is left")
  func drain() async throws {
    let hub = Self.makeQuietHub()
    let patient = Patient()
    hub.subscribe(patient, to: (any Listener).self)
    let service = DrainService(
      within: .seconds(3600), logger: Logger(label: "test"),
      after: {
        hub.notify((any Listener).self) { try await $0.hear(2) }
        Task {
          // Late enough for a service that does not wait to be found out.
          for _ in 0..<1000 { await Task.yield() }
          patient.open()
        }
      }, hubs: { [hub] })
    hub.notify((any Listener).self) { try await $0.hear(1) }
    try await testGracefulShutdown { trigger in
      async let run: Void = service.run()
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(patient.heard.load(ordering: .relaxed) == 2)
  }

  /// How a service group comes to its end.
  enum End: CaseIterable {
    case shutdown, failure, success, cancellation
  }

  /// Posts, and then ends in one of the ways.
  private struct Poster: Service {
    let hub: DelegateHub
    let end: End
    let hasPosted: AsyncStream<Void>.Continuation

    func run() async throws {
      for number in 1...100 { hub.notify((any Listener).self) { try await $0.hear(number) } }
      hasPosted.finish()
      switch end {
      case .success: break
      case .failure: throw Bad()
      case .shutdown, .cancellation: try? await gracefulShutdown()
      }
    }
  }

  @Test(
    "what was posted is handled before a service group ends, however it comes to that",
    arguments: End.allCases)
  func groupEnds(_ end: End) async throws {
    // The moment has to be met, so more than once.
    for _ in 1...20 {
      let hub = Self.makeQuietHub()
      let patient = Patient()
      hub.subscribe(patient, to: (any Listener).self)
      let (posted, hasPosted) = AsyncStream<Void>.makeStream()
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let services: [any Service] = [
        DrainService(hub, within: .seconds(3600), logger: logger),
        Poster(hub: hub, end: end, hasPosted: hasPosted),
      ]
      let group = ServiceGroup(
        configuration: .init(
          services: services.map {
            .init(
              service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
              failureTerminationBehavior: .gracefullyShutdownGroup)
          }, logger: logger))
      let run = Task { try await group.run() }
      for await _ in posted {}
      if end == .shutdown { await group.triggerGracefulShutdown() }
      if end == .cancellation { run.cancel() }
      // Late enough for a service that does not wait to be found out.
      Task {
        for _ in 0..<1000 { await Task.yield() }
        patient.open()
      }
      let result = await run.result
      #expect(patient.heard.load(ordering: .relaxed) == 100)
      if end == .failure {
        #expect(throws: Bad.self) { try result.get() }
      } else if end != .cancellation {
        #expect(throws: Never.self) { try result.get() }
      }
    }
  }

  @Test("a drain service returns at its deadline though what it settles never is, and says so")
  func settling() async throws {
    let hub = Self.makeQuietHub()
    let patient = Patient()
    hub.subscribe(patient, to: (any Listener).self)
    hub.notify((any Listener).self) { try await $0.hear(1) }
    let log = LogBook()
    let service = DrainService(
      within: .milliseconds(20), logger: Logger(label: "test") { _ in log },
      after: { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } },
      hubs: { [hub] })
    try await testGracefulShutdown { trigger in
      async let run: Void = service.run()
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(
      log.messages == ["not settled: something may be told after the drain", "not drained"])
    patient.open()
    #expect(await hub.drain().isEmpty)
  }

  @Test("a drain service that is cancelled leaves what it settles behind")
  func cancelledSettling() async throws {
    let hub = Self.makeQuietHub()
    let (settling, begin) = AsyncStream<Void>.makeStream()
    let log = LogBook()
    let service = DrainService(
      within: .seconds(3600), logger: Logger(label: "test") { _ in log },
      after: {
        begin.finish()
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }, hubs: { [hub] })
    try await testGracefulShutdown { trigger in
      let run = Task { try await service.run() }
      trigger.triggerGracefulShutdown()
      for await _ in settling {}
      run.cancel()
      try await run.value
    }
    #expect(log.messages == ["not settled: something may be told after the drain"])
  }

  @Test("a drain service returns at its deadline though a handler never does")
  func deadline() async throws {
    let hub = Self.makeQuietHub()
    let patient = Patient()
    hub.subscribe(patient, to: (any Listener).self)
    hub.notify((any Listener).self) { try await $0.hear(1) }
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let service = DrainService(hub, within: .milliseconds(20), logger: logger)
    try await testGracefulShutdown { trigger in
      async let run: Void = service.run()
      trigger.triggerGracefulShutdown()
      try await run
    }
    #expect(patient.heard.load(ordering: .relaxed) == 0)
    patient.open()
    #expect(await hub.drain().isEmpty)
  }
}

import Delegation
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

// sample: A service
/// Waits, when the service group stops, until the hub has handled what was posted.
struct HubService: Service {
  let hub: DelegateHub
  let patience: Duration
  let logger: Logger

  func run() async throws {
    try? await gracefulShutdown()
    // In a task of its own: `drain` does not wait in one that is cancelled, as this may be.
    let left = await Task { await hub.drain(within: patience) }.value
    for subscriber in left.subscribers {
      logger.warning(
        "stopped with work left",
        metadata: [
          "subscriber": "\(subscriber.subscriber)",
          "site": "\(subscriber.site)",
          "running": "\(subscriber.running)",
          "waiting": "\(subscriber.waiting)",
        ])
    }
  }
}
// end of sample

@Suite("Samples of a server: service lifecycle and logging", .timeLimit(.minutes(10)))
struct ServiceSamples {
  private protocol RequestDelegate: AnyObject, Sendable {
    func didReceive(_ request: String) async throws
  }

  private final class Audit: RequestDelegate {
    let requests = History()
    func didReceive(_ request: String) async throws {
      if request == "bad" { throw CancellationError() }
      requests.add(request)
    }
  }

  private struct Handler: LogHandler {
    let history: History
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ history: History) { self.history = history }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      let keys = (event.metadata ?? [:]).keys.sorted().joined(separator: " ")
      history.add("\(event.level) \(event.message) [\(keys)]")
    }
  }

  private func makeLogger(_ history: History) -> Logger {
    Logger(label: "hub") { _ in Handler(history) }
  }

  @Test("a service group that stops waits for what was posted")
  func drain() async throws {
    let hub = DelegateHub()
    let (audit, log) = (Audit(), History())
    hub.subscribe(audit, to: RequestDelegate.self)
    let logger = makeLogger(log)
    try await testGracefulShutdown { trigger in
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        let service = HubService(hub: hub, patience: .seconds(60), logger: logger)
        tasks.addTask { try await service.run() }
        for number in 0..<100 {
          hub.notify(RequestDelegate.self) { try await $0.didReceive("\(number)") }
        }
        trigger.triggerGracefulShutdown()
        try await tasks.waitForAll()
      }
    }
    #expect(audit.requests.lines == (0..<100).map(String.init))
    #expect(log.lines.isEmpty)
  }

  @Test("a service group that stops says what is left")
  func left() async throws {
    let hub = DelegateHub()
    let (audit, log) = (Audit(), History())
    hub.subscribe(audit, to: RequestDelegate.self)
    let hung = AsyncStream.makeStream(of: Never.self)
    hub.notify(RequestDelegate.self) { _ in for await _ in hung.stream {} }
    let service = HubService(hub: hub, patience: .zero, logger: makeLogger(log))
    try await testGracefulShutdown { trigger in
      trigger.triggerGracefulShutdown()
      try await service.run()
    }
    #expect(log.lines == ["warning stopped with work left [running site subscriber waiting]"])
    hung.continuation.finish()
    await hub.drain()
  }

  @Test("a service group with a hub's service")
  func group() async throws {
    let (hub, log) = (DelegateHub(), History())
    let logger = makeLogger(log)
    let group = ServiceGroup(
      configuration: .init(
        services: [
          .init(service: HubService(hub: hub, patience: .seconds(5), logger: logger)),
          .init(
            service: Listener(hub: hub), successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .gracefullyShutdownGroup),
        ],
        gracefulShutdownSignals: [.sigterm],
        logger: logger))
    try await group.run()
    #expect(await hub.drain(within: .zero).isEmpty)
    #expect(!log.lines.contains { $0.hasPrefix("warning") })
  }

  private struct Listener: Service {
    let hub: DelegateHub
    func run() async throws {}
  }

  /// How a service group comes to its end.
  enum End: CaseIterable {
    case shutdown, failure, success, cancellation
  }

  /// Posts, and then ends in one of the ways.
  private struct Poster: Service {
    struct Bad: Error {}

    let hub: DelegateHub
    let end: End
    let hasPosted: AsyncStream<Void>.Continuation

    func run() async throws {
      for number in 0..<100 {
        hub.notify(RequestDelegate.self) {
          // Late enough for a service that does not wait to be found out.
          for _ in 0..<20 { await Task.yield() }
          try await $0.didReceive("\(number)")
        }
      }
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
      let (hub, audit, log) = (DelegateHub(), Audit(), History())
      hub.subscribe(audit, to: RequestDelegate.self)
      let logger = makeLogger(log)
      let (posted, hasPosted) = AsyncStream<Void>.makeStream()
      let group = ServiceGroup(
        configuration: .init(
          services: [
            .init(service: HubService(hub: hub, patience: .seconds(60), logger: logger)),
            .init(
              service: Poster(hub: hub, end: end, hasPosted: hasPosted),
              successTerminationBehavior: .gracefullyShutdownGroup,
              failureTerminationBehavior: .gracefullyShutdownGroup),
          ], logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() }))
      let run = Task { try await group.run() }
      for await _ in posted {}
      if end == .shutdown { await group.triggerGracefulShutdown() }
      if end == .cancellation { run.cancel() }
      _ = await run.result
      #expect(audit.requests.lines == (0..<100).map(String.init))
      #expect(log.lines.isEmpty)
    }
  }

  @Test("incidents are logged")
  func logging() async throws {
    let log = History()
    let logger = makeLogger(log)
    // sample: Logging
    let hub = DelegateHub(
      .init(
        onIncident: { incident in
          logger.log(
            level: incident.kind == .failed ? .error : .warning, "\(incident)",
            metadata: [
              "kind": "\(incident.kind)", "call": "\(incident.call)",
              "protocol": "\(incident.protocol)",
              "subscriber": "\(incident.subscriber)", "site": "\(incident.site)",
            ])
        },
        slowAfter: .seconds(1)))
    // end of sample
    let audit = Audit()
    hub.subscribe(audit, to: RequestDelegate.self)
    hub.notify(RequestDelegate.self) { try await $0.didReceive("bad") }
    await hub.drain()
    let line = try #require(log.lines.first)
    #expect(log.lines.count == 1)
    #expect(line.hasPrefix("error ") && line.hasSuffix("[call kind protocol site subscriber]"))
  }
}

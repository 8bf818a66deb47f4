import Delegation
import DelegationAdapters
import Logging
import ServiceLifecycle
import Tracing

// The whole server of the page *In a server*; `OrderServerTests` runs it.

// sample: Request ids
/// The request for which the present code runs.
enum Request {
  @TaskLocal static var id: String?

  /// Adds the id to each line of a log.
  static let metadata = Logger.MetadataProvider {
    id.map { ["request-id": "\($0)"] } ?? [:]
  }
}
// end of sample

// sample: A whole server
protocol OrderGate: AnyObject, Sendable {  // decides
  func mayPlace(_ order: Int) async throws -> Bool
}
protocol OrderObserver: AnyObject, Sendable {  // is told
  func didPlace(_ order: Int) async throws
}

final class Stock: OrderGate {
  func mayPlace(_ order: Int) async -> Bool { order != 2 }
}
final class Mailer: OrderObserver {
  func didPlace(_ order: Int) async {
    Logger.current.info("mailed order \(order)")
  }
}

/// A hub whose handlers are traced, measured and logged.
func makeHub(_ logger: Logger, _ watch: HubWatch) -> DelegateHub {
  DelegateHub(
    .init(
      onIncident: { incident in
        watch.note(incident)
        logger.warning("\(incident)")
      },
      slowAfter: .seconds(1),
      propagating: [
        .taskLocal(Request.$id), .taskLocal(ServiceContext.$current),
      ],
      interceptors: [
        TracingInterceptor(InstrumentationSystem.tracer),
        MetricsInterceptor(named: "orders"),
        LoggingInterceptor(logger),
        watch,
      ]))
}

/// Takes in work; yours listens on a socket.
struct Listener: Service {
  let hub: DelegateHub

  func place(_ order: Int) async {
    let mayPlace = await hub.vote(
      OrderGate.self, by: .unanimous(ofAtLeast: 1), within: .seconds(1),
      absent: .counts(as: false)
    ) { try await $0.mayPlace(order) }
    guard mayPlace else { return }
    hub.notify(OrderObserver.self) { try await $0.didPlace(order) }
  }

  func run() async throws {
    for order in 1...3 {
      await Request.$id.withValue("request-\(order)") { await place(order) }
    }
    try await gracefulShutdown()
  }
}

@main
struct OrderServer {
  static func main() async throws {
    // Bootstrap MetricsSystem and InstrumentationSystem here, too.
    LoggingSystem.bootstrap(
      StreamLogHandler.standardError, metadataProvider: Request.metadata)
    let (logger, watch) = (Logger(label: "orders"), HubWatch())
    let hub = makeHub(logger, watch)
    hub.subscribe(Stock(), to: OrderGate.self, hold: .strongly)
    hub.subscribe(Mailer(), to: OrderObserver.self, hold: .strongly)

    // Stopped in reverse order. What subscribers use, as a database, comes first.
    let services: [any Service] = [
      HubPageService(watch: watch, logger: logger) { [("orders", hub)] },
      HubMetricsService(
        HubMetrics(hub, named: "orders"), every: .seconds(10)),
      DrainService(hub, within: .seconds(5), logger: logger),
      Listener(hub: hub),
    ]
    let group = ServiceGroup(
      configuration: .init(
        services: services.map {
          // By default the group cancels all if one returns or throws.
          .init(
            service: $0,
            successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .gracefullyShutdownGroup)
        }, gracefulShutdownSignals: [.sigterm], logger: logger))
    try await group.run()
  }
}
// end of sample

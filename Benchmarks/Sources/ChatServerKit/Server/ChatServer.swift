package import DelegationAdapters
package import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals

/// The server, from its engine to its socket.
package struct ChatServer: Sendable {
  private let configuration: ServerConfiguration
  private let logger: Logger
  private let metrics: MetricsBook
  private let faults: FaultLog
  private let engine: any Engine
  private let losses = AuditLosses()

  package init(_ configuration: ServerConfiguration, metrics: MetricsBook, logger: Logger) {
    self.metrics = metrics
    self.configuration = configuration
    self.logger = logger
    faults = FaultLog(logger)
    engine = Self.makeEngine(configuration, faults: faults)
  }

  /// What it is to begin without and does not have.
  package var unknownExtension: String? {
    configuration.without.first { name in !makers.contains { $0.name == name } }
  }

  /// How many events were not written down.
  package var auditLosses: Int { losses.count + engine.missedEvents }

  static func makeEngine(_ configuration: ServerConfiguration, faults: FaultLog) -> any Engine {
    switch configuration.engine {
    case .hub, .awaiting:
      HubEngine(
        deadline: configuration.deadline, backlog: configuration.backlog,
        backlogBytes: RoomShare(
          each: configuration.backlogBytes, all: configuration.backlogBytesInAll),
        isAwaited: configuration.engine == .awaiting,
        isWatched: configuration.pagePort != nil, faults: faults)
    case .actor: ActorEngine(deadline: configuration.deadline, faults: faults)
    case .queues: QueueEngine(deadline: configuration.deadline, faults: faults)
    }
  }

  /// Serves until it is told to stop, by SIGTERM or SIGINT; SIGHUP has the audit's file opened anew.
  ///
  /// Services are stopped in the opposite order: no new connections; then what is being said is said to
  /// the end, and everybody is told; then connections are closed; then the extensions are told of that.
  ///
  /// - Parameter onListening: is told the port.
  /// - Returns: what has become of the notifications, if the engine keeps accounts.
  /// - Throws: what keeps it from listening.
  package func run(onListening: @escaping @Sendable (Int) -> Void) async throws -> Accounts? {
    let shelf = ExtensionShelf(engine: engine, makers: makers, logger: logger)
    for (name, _) in makers where name != "hanging" && !configuration.without.contains(name) {
      try await shelf.load(name, by: ["by": "the server"])
    }
    let chat = Chat(
      engine: engine, extensions: shelf, metrics: metrics, faults: faults,
      roomLimit: configuration.roomLimit,
      roomsEach: (configuration.roomsEachGuest, configuration.roomsEach))
    let connections = Connections(
      chat: chat,
      limit: min(
        configuration.connectionLimit,
        DescriptorLimit.connections
          - ServerConfiguration.pageDescriptors(at: configuration.pagePort)),
      limits: Connection.Limits(configuration))
    let drain = engine.makeDrainService(within: configuration.drainTime, logger: logger) {
      await chat.turnstile.close()
    }
    let lastDrain = engine.makeDrainService(within: .seconds(1), logger: logger) {}
    let listener = Listener(
      configuration: configuration, connections: connections, logger: logger,
      onListening: onListening)
    // Bound by now, so that a port in use keeps the server from beginning, rather than ends it.
    var page: (any Service)?
    if let port = configuration.pagePort {
      page = try await engine.makePageService(port: port, logger: logger) { chat.missing.troubles }
    }
    var group = ServiceGroupConfiguration(
      services: [
        page, engine.makeMetricsService(every: .seconds(10)), lastDrain, connections, drain,
        HangUp(extensions: shelf, hasAudit: configuration.auditFile != nil, logger: logger),
        listener,
      ].compactMap { $0 }.map {
        // Whichever fails or ends: the others are stopped in their order, so that nothing is lost.
        .init(
          service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
          failureTerminationBehavior: .gracefullyShutdownGroup)
      }, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    group.maximumGracefulShutdownDuration =
      configuration.drainTime + configuration.farewellTime + .seconds(11)
    let services = ServiceGroup(configuration: group)
    if configuration.stopsWithInput {
      InputWatch.start { Task { await services.triggerGracefulShutdown() } }
    }
    try await services.run()
    return await engine.accounts()
  }

  var makers: [(name: String, make: ExtensionShelf.Maker)] {
    let configuration = configuration
    var makers: [(name: String, make: ExtensionShelf.Maker)] = [
      ("registrar", { Registrar(configuration.accounts) }),
      ("guests", { Guests() }),
      ("doorkeeper", { Doorkeeper() }),
      ("flood-limit", { FloodLimit(perSecond: configuration.floodLimit) }),
      ("moderator", { Moderator() }),
      ("trimmer", { Trimmer() }),
      ("emoticons", { Emoticons() }),
      ("history", { History() }),
      ("presence", { Presence() }),
      ("hanging", { Hanging() }),
    ]
    if let path = configuration.auditFile {
      makers.append(("audit", { [losses] in try Audit(path: path, losses: losses) }))
    }
    return makers
  }
}

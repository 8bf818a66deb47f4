import Delegation
import DelegationAdapters
import DelegationPage
import Logging
import ServiceLifecycle
import UnixSignals
import Synchronization

/// A chat on a port, with its page, until the process is asked to stop.
package final class ChatServer: Sendable {
  /// What a server is started with.
  package struct Configuration: Sendable {
    /// Where clients connect; everybody who can reach another address than the loopback one may talk.
    package var host = "127.0.0.1"
    /// Their port; 0 for any that is free.
    package var port = 0
    /// The port of the page, on the loopback address; 0 for any that is free, `nil` for no page.
    package var page: Int?
    /// The file of the audit; `nil` for none.
    package var audit: String?
    /// The extensions that are loaded at first.
    package var extensions = ["doorkeeper", "moderator", "flood-limit"]
    /// How many messages of one member the flood limit lets pass in ten seconds.
    package var floodLimit = 20
    /// How long things may take, and how much of them there may be.
    package var limits = ChatLimits()

    /// The default configuration.
    package init() {}
  }

  /// How a server has ended.
  package struct Ending: Sendable, Equatable {
    /// Whether all hubs came to rest in time.
    package var isDrained: Bool
    /// How many lines the audit has written, and how many it could not.
    package var written, unwritten: Int
  }

  /// The chat.
  package let chat: Chat
  /// Its extensions.
  package let shelf: Shelf
  private let configuration: Configuration
  private let audit: AuditFile?
  private let logger: Logger
  private let isDrained = Mutex(true)

  /// Makes a server with its extensions loaded.
  ///
  /// - Throws: an error that says why the audit's file cannot be opened.
  package init(_ configuration: Configuration, logger: Logger) throws {
    self.configuration = configuration
    self.logger = logger
    audit = try configuration.audit.map { try AuditFile($0) }
    chat = Chat(configuration.limits, isAudited: audit != nil, logger: logger)
    shelf = Shelf(for: chat.hub, floodLimit: configuration.floodLimit)
    audit?.subscribe(to: chat.hub)
    for name in configuration.extensions { shelf.load(name) }
  }

  /// Serves until the group that it makes is shut down by a signal.
  ///
  /// The closures are told the ports. It throws an error that names address and port if it cannot listen there.
  package func run(
    until signals: [UnixSignal] = [.sigterm, .sigint],
    onListening: @escaping @Sendable (Int) -> Void,
    onPage: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> Ending {
    let group = ServiceGroup(
      configuration: .init(
        services: services(onListening: onListening, onPage: onPage).map {
          .init(
            service: $0, successTerminationBehavior: .gracefullyShutdownGroup,
            failureTerminationBehavior: .gracefullyShutdownGroup)
        }, gracefulShutdownSignals: signals, logger: logger))
    try await group.run()
    let counts = audit?.counts ?? (written: 0, failed: 0)
    return Ending(
      isDrained: isDrained.withLock { $0 }, written: counts.written, unwritten: counts.failed)
  }

  /// The services, for a group of your own.
  package func services(
    onListening: @escaping @Sendable (Int) -> Void, onPage: @escaping @Sendable (Int) -> Void
  ) -> [any Service] {
    let (chat, logger, clients) = (chat, logger, Clients(chat))
    let onLeft: @Sendable (DelegateHub.Leftovers) -> Void = { [self] _ in
      isDrained.withLock { $0 = false }
    }
    // First what decides, then the rooms; then those who are connected have as long.
    let each = configuration.limits.drain / 3
    let page = configuration.page.map { port in
      HubPageService(chat.page, port: port, needs: chat.needs, onListening: onPage) { chat.hubs }
    }
    // Stopped in reverse order.
    let services: [(any Service)?] = [
      page, clients,
      DrainService(within: each, logger: logger, onLeft: onLeft) {
        chat.hubs.dropFirst().map(\.hub)
      },
      DrainService(within: each, logger: logger, onLeft: onLeft) { [chat.hub] },
      Listener(
        chat: chat, clients: clients, host: configuration.host, port: configuration.port,
        onListening: onListening),
    ]
    return services.compactMap { $0 }
  }
}

import ArgumentParser
import CoreMetrics
import Logging

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a server is to be like, as on the command line.
package struct ServerOptions: ParsableArguments {
  @Option(help: "The address to listen on.")
  var host = "127.0.0.1"

  @Option(help: "The port to listen on; 0 for any that is free, which is printed.")
  var port = 7000

  @Option(help: "What calls the extensions and the members: hub, awaiting, actor or queues.")
  var engine = EngineKind.hub

  @Option(name: .customLong("user"), help: "A user, as NAME:PASSWORD; repeat it for more.")
  var users: [LogIn] = []

  @Option(name: .customLong("admin"), help: "An administrator, as NAME:PASSWORD.")
  var administrators: [LogIn] = []

  @Option(help: "How many messages a user may say in a second.")
  var floodLimit = 20

  @Option(help: "How many milliseconds an extension may think.")
  var deadline = 100

  @Option(help: "How many messages may wait for a member that does not keep up.")
  var backlog = 1000

  @Option(
    help: "How many connections there may be; as many as the process may have descriptors, if less."
  )
  var connections: Int?

  @Option(help: "For how many milliseconds a client may take nothing of what it is sent.")
  var writeTimeout = 60_000

  @Option(help: "The port of a page that shows the hubs, for this machine only; 0 for any.")
  var page: Int?

  @Option(help: "A file to write down in what happens.")
  var audit: String?

  @Option(help: "How many milliseconds to wait at the end until everybody has been told.")
  var drainTime = 5000

  @Option(help: "How many milliseconds to wait for a client to take what it is sent at the end.")
  var farewellTime = 2000

  @Option(
    help: "What to log: trace, debug, info, warning or error.",
    transform: { word in
      guard let level = Logger.Level(rawValue: word) else {
        throw ValidationError("There is no level \(word).")
      }
      return level
    })
  var logLevel = Logger.Level.info

  @Flag(help: "Stop when standard input ends.")
  var stopWithInput = false

  package init() {}

  package func validate() throws {
    for (name, value) in [
      ("flood-limit", floodLimit), ("deadline", deadline), ("backlog", backlog),
      ("drain-time", drainTime), ("connections", connections ?? 1), ("write-timeout", writeTimeout),
      ("farewell-time", farewellTime),
    ] where value < 1 { throw ValidationError("--\(name) has to be 1 or more.") }
    if let page, !(0...65535).contains(page) {
      throw ValidationError("--page has to be a port from 1 to 65535, or 0.")
    }
    if page != nil, engine == .actor || engine == .queues {
      throw ValidationError("--page shows hubs, and --engine \(engine.rawValue) has none.")
    }
  }

  /// Serves until it is told to stop, and says on standard output where it listens and what the accounts are.
  package func serve() async throws {
    LoggingSystem.bootstrap(StreamLogHandler.standardError)
    var logger = Logger(label: "chat")
    logger.logLevel = logLevel
    var server = ServerConfiguration()
    server.host = host
    server.port = port
    server.engine = engine
    server.accounts =
      users.map { Account(name: $0.name, password: $0.password, role: .member) }
      + administrators.map { Account(name: $0.name, password: $0.password, role: .administrator) }
    server.floodLimit = floodLimit
    server.deadline = .milliseconds(deadline)
    server.backlog = backlog
    server.connectionLimit = connections
    server.writeTimeout = .milliseconds(writeTimeout)
    server.auditFile = audit
    server.pagePort = page
    server.drainTime = .milliseconds(drainTime)
    server.farewellTime = .milliseconds(farewellTime)
    server.stopsWithInput = stopWithInput
    let metrics = MetricsBook()
    MetricsSystem.bootstrap(metrics)
    let accounts = try await ChatServer(server, metrics: metrics, logger: logger).run { port in
      Self.say("listening on port \(port)")
    }
    Self.say("accounts \(accounts.map(String.init(describing:)) ?? "none")")
  }

  /// Writes a line at once, to a pipe too.
  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}

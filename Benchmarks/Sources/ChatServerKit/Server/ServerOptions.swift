import ArgumentParser
import CoreMetrics
import DelegationAdapters
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

  @Option(
    name: .customLong("accounts"),
    help: """
      A file that only you can read, of lines: member NAME PASSWORD, or admin NAME PASSWORD. It is \
      read at the start only: a restart revokes a password.
      """)
  var accountFile: String?

  @Option(
    help: """
      An extension to begin without. What it guards is open then, but without registrar and guests \
      nobody can log in.
      """)
  var without: [String] = []

  @Option(help: "How many messages a user may say in a second.")
  var floodLimit = 20

  @Option(help: "How many milliseconds an extension may think.")
  var deadline = 100

  @Option(help: "How many messages may wait for a member that does not keep up.")
  var backlog = 1000

  @Option(help: "How many bytes of a room's messages may wait for a member that does not keep up.")
  var backlogBytes = 128 * 1024

  @Option(help: "How many lines a client may have carried out in a second; others wait.")
  var lines = 50

  @Option(help: "How many connections there may be; 1000 by default, if there are descriptors.")
  var connections: Int?

  @Option(help: "How many milliseconds a client that is not known waits to be told.")
  var refusalTime = 1000

  @Option(help: "For how many milliseconds a client may be connected without logging in.")
  var loginTime = 30_000

  @Option(help: "For how many milliseconds a client may write nothing, not even ping.")
  var idleTime = 900_000

  @Option(help: "For how many milliseconds a client may take nothing of what it is sent.")
  var writeTimeout = 60_000

  @Option(help: "The port of a page that shows the hubs, for this machine only; 0 for any.")
  var page: Int?

  @Option(help: "A file to write down in what happens; the exit status is 74 if that failed.")
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
      ("farewell-time", farewellTime), ("login-time", loginTime), ("idle-time", idleTime),
      ("backlog-bytes", backlogBytes), ("lines", lines), ("refusal-time", refusalTime),
    ] where !(1...1_000_000_000).contains(value) {
      throw ValidationError("--\(name) has to be 1 or more, and at most 1000000000.")
    }
    if let page, !(0...65535).contains(page) {
      throw ValidationError("--page has to be a port from 1 to 65535, or 0.")
    }
    if page != nil, engine == .actor || engine == .queues {
      throw ValidationError("--page shows hubs, and --engine \(engine.rawValue) has none.")
    }
    guard (0...65_535).contains(port) else {
      throw ValidationError("--port has to be from 0 to 65535.")
    }
    // Before there are event loops, which need some of them and do not fail gently.
    let pageDescriptors = ServerConfiguration.pageDescriptors(at: page)
    if let problem = DescriptorLimit.problem(with: connections, besides: pageDescriptors) {
      throw ValidationError(problem)
    }
  }

  /// Serves until it is told to stop, and says on standard output where it listens and what the accounts are.
  package func serve() async throws {
    let log = LogStream(STDERR_FILENO)
    LoggingSystem.bootstrap { StreamLogHandler(label: $0, stream: log) }
    var logger = Logger(label: "chat")
    logger.logLevel = logLevel
    var server = ServerConfiguration()
    server.host = host
    server.port = port
    server.engine = engine
    server.accounts = try accountFile.map(AccountFile.accounts(at:)) ?? []
    server.without = Set(without)
    server.floodLimit = floodLimit
    server.deadline = .milliseconds(deadline)
    server.backlog = backlog
    server.backlogBytes = backlogBytes
    server.logInTime = .milliseconds(loginTime)
    server.idleTime = .milliseconds(idleTime)
    server.connectionLimit = connections ?? server.connectionLimit
    server.linesPerSecond = lines
    server.refusalTime = .milliseconds(refusalTime)
    server.writeTimeout = .milliseconds(writeTimeout)
    server.auditFile = audit
    server.pagePort = page
    server.drainTime = .milliseconds(drainTime)
    server.farewellTime = .milliseconds(farewellTime)
    server.stopsWithInput = stopWithInput
    let metrics = MetricsBook()
    MetricsSystem.bootstrap(metrics)
    let chat = ChatServer(server, metrics: metrics, logger: logger)
    if let unknown = chat.unknownExtension {
      throw ValidationError("There is no extension \(unknown).")
    }
    let accounts = try await chat.run { port in Self.say("listening on port \(port)") }
    Self.say("accounts \(accounts.map(String.init(describing:)) ?? "none")")
    if chat.auditLosses > 0 {
      logger.critical("the audit lacks \(chat.auditLosses) events, which were not written")
      throw ExitCode(EX_IOERR)
    }
  }

  /// Writes a line at once, to a pipe too.
  private static func say(_ line: String) {
    print(line)
    fflush(nil)
  }
}

import ChatServerKit
import InMemoryLogging
import Logging
import ServiceLifecycle
import Synchronization
import Testing

/// Somebody who is in a room, and remembers what was heard; whoever is told to waits before that.
final class Listener: RoomMember {
  private let lines = Mutex<[String]>([])
  let gate: Gate?
  let hasGivenUp = Gate()

  init(behind gate: Gate? = nil) { self.gate = gate }

  var heard: [String] { lines.withLock { $0 } }
  var executor: (any TaskExecutor)? { nil }

  func hear(_ line: String) async {
    await gate?.pass()
    lines.withLock { $0.append(line) }
  }

  func giveUp() { hasGivenUp.open() }
}

extension AsyncStream where Element: Sendable {
  /// Its next element.
  func next() async throws -> Element { try #require(await first { _ in true }) }
}

extension Client {
  /// Says something, and returns the answer; what was said in rooms meanwhile is passed over.
  func ask(_ line: String) async throws -> String? {
    try await say(line)
    while let answer = try await read() {
      if ["ok", "no", "by"].contains(answer.prefix(2)) { return answer }
    }
    return nil
  }

  /// Expects an answer to a line, or, without one, the next line.
  func expect(
    _ line: String?, _ answer: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let actual = if let line { try await ask(line) } else { try await read() }
    if actual != answer {
      Issue.record("\(line ?? ""): \(actual ?? "end")", sourceLocation: sourceLocation)
    }
  }

  func expectEnd(sourceLocation: SourceLocation = #_sourceLocation) async throws {
    if let line = try await read() { Issue.record("\(line)", sourceLocation: sourceLocation) }
  }

  /// Reads until there is a certain line.
  func wait(for line: String) async throws {
    while let next = try await read() {
      if next == line { return }
    }
    Issue.record("it was not told: \(line)")
  }
}

/// Runs a server while the body runs, then shuts it down.
///
/// - Returns: what it has logged.
@discardableResult
func serving(
  _ configure: (inout ChatServer.Configuration) -> Void = { _ in },
  _ body: (ChatServer, _ port: Int, _ page: Int) async throws -> Void
) async throws -> [String] {
  var configuration = ChatServer.Configuration()
  configuration.page = 0
  configuration.extensions = ["doorkeeper", "moderator"]
  // What a busy machine does not reach.
  (configuration.limits.vote, configuration.limits.hearing) = (.seconds(100), .seconds(100))
  configure(&configuration)
  let log = InMemoryLogHandler()
  let logger = Logger(label: "chat") { [log] _ in log }
  let server = try ChatServer(configuration, logger: logger)
  let (ports, port) = AsyncStream<Int>.makeStream()
  let (pages, page) = AsyncStream<Int>.makeStream()
  let group = ServiceGroup(
    services: server.services(onListening: { port.yield($0) }, onPage: { page.yield($0) }),
    logger: logger)
  try await withThrowingTaskGroup { tasks in
    tasks.addTask { try await group.run() }
    try await body(server, ports.next(), pages.next())
    await group.triggerGracefulShutdown()
    try await tasks.waitForAll()
  }
  return log.entries.filter { $0.level >= .warning }.map { entry in
    "\(entry.message) \(entry.metadata["subscriber"] ?? "")"
  }
}

import ChatServerKit
import InMemoryLogging
import Logging
import NIOCore
import NIOPosix
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

/// Lets everybody pass once it is open.
final class Gate: Sendable {
  private let (stream, continuation) = AsyncStream<Void>.makeStream()

  func open() { continuation.finish() }

  func pass() async {
    // In a task of its own, so that a cancelled caller waits as well.
    await Task { for await _ in stream {} }.value
  }
}

/// A client that writes lines and reads them.
final class Client {
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private var lines: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  private(set) var unread = ""

  private init(
    _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
    _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) {
    self.outbound = outbound
    lines = inbound.makeAsyncIterator()
  }

  /// Connects, and disconnects when the body returns.
  static func talk<R: Sendable>(
    to port: Int, _ body: (Client) async throws -> R
  ) async throws -> R {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.socketOption(.so_rcvbuf), value: 4096)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    return try await channel.executeThenClose { inbound, outbound in
      try await body(Client(inbound, outbound))
    }
  }

  func send(_ bytes: [UInt8]) async throws { try await outbound.write(ByteBuffer(bytes: bytes)) }
  func say(_ line: String) async throws { try await send(Array("\(line)\n".utf8)) }
  /// Says no more.
  func finish() { outbound.finish() }

  /// The next line; `nil` at the end.
  func read() async throws -> String? {
    while true {
      if let end = unread.firstIndex(of: "\n") {
        defer { unread = String(unread[unread.index(after: end)...]) }
        return String(unread[..<end])
      }
      guard let more = try await lines.next() else { return nil }
      unread += String(buffer: more)
    }
  }

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
  let (ports, port) = AsyncStream<(Int, isPage: Bool)>.makeStream()
  let group = ServiceGroup(
    services: server.services(
      onListening: { port.yield(($0, false)) }, onPage: { port.yield(($0, true)) }), logger: logger)
  try await withThrowingTaskGroup { tasks in
    tasks.addTask { try await group.run() }
    var found: [Bool: Int] = [:]
    for await (port, isPage) in ports {
      found[isPage] = port
      if found.count == 2 { break }
    }
    try await body(server, found[false] ?? 0, found[true] ?? 0)
    await group.triggerGracefulShutdown()
    try await tasks.waitForAll()
  }
  return log.entries.filter { $0.level >= .warning }.map { entry in
    "\(entry.message) \(entry.metadata["subscriber"] ?? "")"
  }
}

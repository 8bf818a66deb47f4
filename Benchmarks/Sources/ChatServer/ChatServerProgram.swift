import ArgumentParser
import ChatServerKit
import Delegation
import Dispatch
import Foundation
import Logging

/// A chat server on the loopback address.
///
/// Clients write lines: `nc localhost 7000`, then `help`.
///
/// Its operator writes lines to standard input: `load NAME`, `unload NAME`, `stats`.
@main
struct ChatServerProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ChatServer",
    abstract: "A chat whose gates, audit and members are delegates.",
    discussion: """
      Standard input takes: load NAME (or a fresh one in its place), unload NAME, stats.
      The status is 74 if the audit could not write a line, 75 if somebody hung when it stopped.
      """)

  @Option(help: "The address to listen on; on another one everybody who can reach it may talk.")
  var host = "127.0.0.1"
  @Option(help: "The port; 0 for any that is free.")
  var port = 7000
  @Option(help: "The port of a page that shows the hubs, on the loopback address.")
  var page: Int?
  @Option(
    help: """
      A file of what is said: a message that cannot be written there is told to nobody; who joins \
      or leaves is. What several say at once may be heard in another order than it is written.
      """)
  var audit: String?
  @Option(help: "How many messages of one member pass in ten seconds; to join is one, too.")
  var floodLimit = 20
  @Option(help: "How many connections there may be.")
  var connections = 1000
  @Option(help: "Seconds that a vote may take.")
  var deadline = 1.0
  @Option(help: "Seconds that a member may take to hear a line.")
  var hearing = 30.0
  @Option(help: "Seconds to stop in: a third each for gates and audit, rooms, clients.")
  var drain = 5.0
  @Option(help: "The extensions that are loaded at first, with commas between them.")
  var extensions = "doorkeeper,moderator,flood-limit"

  func validate() throws {
    for (name, value) in [("deadline", deadline), ("hearing", hearing), ("drain", drain)]
    where !(0.001...86_400).contains(value) {
      throw ValidationError("--\(name) needs a number of seconds from 0.001 to 86400, not \(value)")
    }
    for (name, value) in [("connections", connections), ("flood-limit", floodLimit)] where value < 1
    {
      throw ValidationError("--\(name) needs a number of 1 or more, not \(value)")
    }
    for port in [port, page ?? 0] where !(0...65_535).contains(port) {
      throw ValidationError("\(port) is no port: they go from 0 to 65535")
    }
  }

  func run() async throws {
    LoggingSystem.bootstrap(StreamLogHandler.standardError)
    raiseDescriptorLimit()
    // A file that has reached a limit of its size is an error of the audit's, and not the end of the server.
    signal(SIGXFSZ, SIG_IGN)
    var configuration = ChatServer.Configuration()
    configuration.host = host
    configuration.port = port
    configuration.page = page
    configuration.audit = audit
    configuration.floodLimit = floodLimit
    configuration.extensions = extensions.split(separator: ",").map(String.init)
    configuration.limits.connections = connections
    configuration.limits.vote = .seconds(deadline)
    configuration.limits.hearing = .seconds(hearing)
    configuration.limits.drain = .seconds(drain)
    let server = try ChatServer(configuration, logger: Logger(label: "chat"))
    if let unknown = configuration.extensions.first(where: { !server.shelf.names.contains($0) }) {
      throw ValidationError("there is no \(unknown): there are \(server.shelf.names)")
    }
    obeyStandardInput(server)
    let ending = try await server.run(
      onListening: { say("listening on port \($0)") }, onPage: { say("a page on port \($0)") })
    say("\(server.chat.hub.statistics())")
    if audit != nil { say("audit: \(ending.written) written, \(ending.unwritten) failed") }
    if !ending.isDrained { say("NOT at rest: the log says what hung") }
    if ending.unwritten > 0 { throw ExitCode(74) }
    if !ending.isDrained { throw ExitCode(75) }
  }

  /// Reads lines on a thread of its own, which waits for each to be obeyed before the next one.
  private func obeyStandardInput(_ server: ChatServer) {
    Thread.detachNewThread {
      while let line = readLine() {
        let isObeyed = DispatchSemaphore(value: 0)
        Task {
          await obey(line.split(separator: " ").map(String.init), server)
          isObeyed.signal()
        }
        isObeyed.wait()
      }
    }
  }

  private func obey(_ words: [String], _ server: ChatServer) async {
    switch (words.first, words.count) {
    case ("load", 2):
      say(server.shelf.load(words[1]) ? "loaded" : "there are \(server.shelf.names)")
    case ("unload", 2):
      let left = await server.shelf.unload(words[1])
      say(left.map { $0.isEmpty ? "unloaded" : "unloaded; \($0)" } ?? "it was not loaded")
    case ("stats", 1):
      for (name, hub) in server.chat.hubs { say("\(name):\n\(hub.statistics())") }
    default: say("load NAME, unload NAME, stats")
    }
  }

  /// Each connection is a descriptor, and a shell's usual limit is about a thousand.
  private func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(.init(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    setrlimit(.init(RLIMIT_NOFILE.rawValue), &limit)
  }
}

/// Writes a line at once, also into a pipe; if nobody can read it any more, the chat goes on.
private func say(_ text: String) {
  try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
}

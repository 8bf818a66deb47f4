import ArgumentParser
import ChatServerKit
import DelegationPage
import Foundation
import Logging
import UnixSignals

/// Lets clients talk in a chat server as fast as they are answered, and checks what they hear.
///
/// The status is 1 unless all members of a room have heard every accepted line, once, in one order, and no refused one.
@main
struct ChatLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Lets clients talk in a chat server of its own, and checks what they hear.")

  @Option(help: "How many clients there are.")
  var clients = 100
  @Option(help: "In how many rooms they are.")
  var rooms = 4
  @Option(help: "How many lines each of them says, the next one when the last one is answered.")
  var lines = 100
  @Option(help: "A file for the audit; without one there is no audit.")
  var audit: String?
  @Flag(help: "Serve a page, and look at it twice a second.")
  var page = false

  func validate() throws {
    guard clients >= rooms, rooms >= 1, lines >= 1 else {
      throw ValidationError("there has to be a line, a room, and a client for each room")
    }
  }

  func run() async throws {
    var configuration = ChatServer.Configuration()
    configuration.extensions = ["doorkeeper", "moderator"]
    configuration.audit = audit
    configuration.page = page ? 0 : nil
    configuration.limits.connections = clients
    // Nobody is to miss anything, so that all is to be heard.
    configuration.limits.mailbox = clients * lines
    let server = try ChatServer(
      configuration, logger: Logger(label: "chat") { _ in SwiftLogNoOpLogHandler() })
    let (ports, found) = AsyncStream<Int>.makeStream()
    let service = Task { try await server.run(until: [.sigterm]) { found.yield($0) } }
    guard let listening = await ports.first(where: { _ in true }) else { throw ExitCode(1) }
    let looking = Task {
      while page, (try? await Task.sleep(for: .milliseconds(500))) != nil {
        _ = server.chat.page.look(at: server.chat.hubs)
      }
    }
    let start = ContinuousClock.now
    let all = Meeting(of: clients)
    let talkers = try await withThrowingTaskGroup { group in
      for number in 0..<clients {
        group.addTask { try await Talker(number, of: self).talk(to: listening, with: all) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    looking.cancel()
    report(talkers, in: ContinuousClock.now - start)
    kill(getpid(), SIGTERM)
    let ending = try await service.value
    guard problems(talkers).isEmpty, ending.isDrained else { throw ExitCode(1) }
  }

  private func report(_ talkers: [Talker], in duration: Duration) {
    let latencies = talkers.flatMap(\.latencies).map { Int($0 / .microseconds(1)) }.sorted()
    let heard = talkers.reduce(0) { $0 + $1.heard.count }
    let rate = Double(heard) / (duration / .seconds(1))
    print("\(clients) clients in \(rooms) rooms, \(lines) lines each, in \(duration)")
    print("heard \(heard), \(Int(rate)) a second")
    let shown = [50, 99, 99.9].map { part in
      "p\(part) \(latencies[Int(part / 100 * Double(latencies.count - 1))]) µs"
    }
    print("until a line is answered: \(shown.joined(separator: ", "))")
    let problems = problems(talkers)
    print(problems.isEmpty ? "everybody has heard everything, once, in one order" : "WRONG:")
    for problem in problems.prefix(10) { print("  \(problem)") }
  }

  /// What is wrong with what was heard.
  private func problems(_ talkers: [Talker]) -> [String] {
    Dictionary(grouping: talkers, by: \.room).sorted { $0.key < $1.key }.flatMap { room, members in
      let accepted = Set(members.flatMap(\.accepted))
      var problems: [String] = []
      for member in members {
        if member.heard != members[0].heard {
          problems.append("\(member.name) heard another order")
        }
        if Set(member.heard) != accepted || member.heard.count != accepted.count {
          problems.append("\(member.name) heard \(member.heard.count), not \(accepted.count)")
        }
      }
      return problems
    }
  }
}

/// Lets nobody go on before all have arrived.
actor Meeting {
  private var missing: Int
  private let gate = Gate()

  init(of count: Int) { missing = count }

  func arrive() async {
    missing -= 1
    if missing == 0 { gate.open() }
    await gate.pass()
  }
}

/// A client, and what it has said and heard.
struct Talker: Sendable {
  let name: String
  let room: String
  private let lines: Int
  /// How many lines all of its room say, but for those that are refused.
  private let expected: Int
  private(set) var accepted: [String] = []
  private(set) var heard: [String] = []
  private(set) var latencies: [Duration] = []

  init(_ number: Int, of load: ChatLoad) {
    name = "client\(number)"
    room = "room\(number % load.rooms)"
    lines = load.lines
    let members = (0..<load.clients).count { $0 % load.rooms == number % load.rooms }
    expected = members * (load.lines - load.lines / 10)
  }

  /// Joins, waits for the others, talks until all lines are answered, and listens until all are heard.
  consuming func talk(to port: Int, with all: Meeting) async throws -> Talker {
    var talker = self
    let clock = ContinuousClock()
    return try await Client.talk(to: port) { client in
      try await client.say("name \(talker.name)")
      try await client.say("join \(talker.room)")
      var (answers, number, sent) = (0, 0, clock.now)
      while let line = try await client.read() {
        if line.hasPrefix("\(talker.room) ") {
          talker.heard.append(line)
        } else if line == "ok" || line.hasPrefix("no ") {
          answers += 1
          if answers == 2 { await all.arrive() }
          if answers > 2 {
            talker.latencies.append(clock.now - sent)
            if line == "ok" { talker.accepted.append(talker.line(number - 1)) }
          }
          if answers >= 2, number < talker.lines {
            sent = clock.now
            try await client.say("say \(talker.room) \(talker.text(number))")
            number += 1
          }
        }
        if answers == talker.lines + 2, talker.heard.count >= talker.expected { break }
      }
      return talker
    }
  }

  /// A tenth of what is said is refused.
  private func text(_ number: Int) -> String { number % 10 == 9 ? "spam \(number)" : "\(number)" }
  private func line(_ number: Int) -> String { "\(room) \(name): \(text(number))" }
}

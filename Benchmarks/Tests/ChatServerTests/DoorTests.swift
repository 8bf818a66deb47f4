import ChatLoadKit
import Synchronization
import Testing

/// The same as the exchange of extensions within an engine, as a client sees it.
@Suite("Guests at the door of a server whose extensions are exchanged", .timeLimit(.minutes(10)))
struct DoorTests {
  /// What guests have come to.
  private final class Tries: Sendable {
    let successes = Mutex<[String]>([])
    let guests = Atomic(3)
    let tries = Atomic(0)

    func note(_ answers: [String], to question: String) {
      tries.add(1, ordering: .relaxed)
      // What is said in a room may come before an answer.
      guard let answer = answers.last, !answer.hasPrefix("no ") else { return }
      successes.withLock { $0.append("\(question): \(answer)") }
    }
  }

  @Test("nobody gets a name, into a room or a word that is not for guests")
  func exchange() async throws {
    try await Server.run(["--audit", "/dev/null"], accounts: ["admin root secret"]) { server in
      var root = try await Dialogue(port: server.port)
      _ = try await root.next()
      #expect(try await root.ask("login root secret") == ["ok you are root, administrator"])
      let names = try await root.ask("extensions").compactMap { line in
        line.hasSuffix(", loaded") ? String(line.split(separator: " ")[1].dropLast()) : nil
      }
      #expect(names.count == 10)
      let tries = Tries()
      try await withThrowingTaskGroup { group in
        for number in 1...3 {
          group.addTask {
            defer { tries.guests.subtract(1, ordering: .relaxed) }
            for _ in 1...20 { try await Self.visit(server.port, as: "eve\(number)", tries) }
          }
        }
        var turn = 0
        while tries.guests.load(ordering: .relaxed) > 0 {
          for name in names {
            // What waits for an audit that is unloaded is not written, which the exit status tells.
            let commands =
              turn.isMultiple(of: 2) || name == "audit" ? ["reload"] : ["unload", "load"]
            for command in commands { #expect(try await root.ask("\(command) \(name)") == ["ok"]) }
          }
          turn += 1
        }
        try await group.waitForAll()
      }
      #expect(tries.successes.withLock { $0 } == [])
      #expect(tries.tries.load(ordering: .relaxed) >= 3 * 20 * 5)
      // Nobody has stayed, and who may still may.
      #expect(try await root.ask("who staff") == ["ok "])
      #expect(try await root.ask("join staff") == ["ok 0"])
      // Who may not now is told another thing than who may never.
      for name in ["registrar", "doorkeeper"] {
        #expect(try await root.ask("unload \(name)") == ["ok"])
      }
      #expect(try await root.ask("who tea") == ["no doorkeeper is missing, try again later"])
      var guest = try await Dialogue(port: server.port)
      _ = try await guest.next()
      #expect(
        try await guest.ask("login eve")
          == ["no nobody can say who you are at the moment, try again later"])
      #expect(try await root.ask("load registrar") == ["ok"])
      #expect(try await guest.ask("login eve guess") == ["no nobody knows you"])
      server.terminate()
      #expect(try await server.end().status == 0)
    }
  }

  /// Tries all that a guest may not do.
  private static func visit(_ port: Int, as name: String, _ tries: Tries) async throws {
    var guest = try await Dialogue(port: port)
    _ = try await guest.next()
    for line in ["login root", "login ROOT guess"] {
      tries.note(try await guest.ask(line), to: line)
    }
    var isKnown = false
    // One less than how often it may try.
    for _ in 1...7 where !isKnown {
      isKnown = try await guest.ask("login \(name)") == ["ok you are \(name), guest"]
    }
    for line in ["join staff", "who staff"] { tries.note(try await guest.ask(line), to: line) }
    _ = try await guest.ask("join tea")
    let line = "say tea spam"
    tries.note(try await guest.ask(line), to: line)
    try await guest.write("quit")
    _ = try await guest.rest()
  }
}

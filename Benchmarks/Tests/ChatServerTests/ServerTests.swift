import Delegation
import Testing

@testable import ChatServerKit

@Suite("The chat server, by sockets on the loopback address", .timeLimit(.minutes(5)))
struct ServerTests {
  private let unknown = "no that is no command; there are: \(Command.list)"

  @Test("a conversation")
  func conversation() async throws {
    let lines: [(String, String)] = [
      ("", unknown), ("help", "ok \(Command.list)"),
      ("say tea hello", "no say who you are: name NAME"), ("name ann", "ok"),
      ("name bob", "no you have a name"), ("join tea", "ok"), ("join tea", "no you are in tea"),
      ("join a b", unknown),
      ("join \u{3164}", "no a name has 1 to 32 letters, digits, - and _"),
      ("say tea hello", "ok"), ("say tea cheap spam", "no that was not let through"),
      ("say coffee hello", "no you are not in coffee"),
      ("say tea \u{2800}", "no there is nothing to be seen"), ("leave tea", "ok"),
      ("leave tea", "no you are not in tea"), ("quit", "bye"),
    ]
    try await serving { _, port, _ in
      try await Client.talk(to: port) { ann in
        for (line, answer) in lines { try await ann.expect(line, answer) }
        try await ann.expectEnd()
      }
      // The name is free again; a control sequence is no part of what is said.
      try await Client.talk(to: port) { ann in
        while try await ann.ask("name ann") != "ok" {}
        try await ann.expect("join tea", "ok")
        try await ann.say("say tea \u{1B}[2Jhello\u{202E}\r")
        try await ann.wait(for: "tea ann: [2Jhello")
      }
      try await Client.talk(to: port) { mallory in
        try await mallory.expect("name Mallory", "ok")
        try await mallory.expect("join tea", "no you may not join tea")
      }
    }
  }

  @Test("a name can be seen, and nothing in it that cannot")
  func names() {
    let long = String(repeating: "x", count: 32)
    for name in ["ann", "Zo\u{308}e", "\u{D55C}\u{AE00}", "\u{3B1}_2-\u{BD}", long] {
      #expect(Command("name \(name)\r") == .name(name))
    }
    let filled = [
      "\u{3164}", "\u{115F}\u{1160}", "\u{FFA0}", "\u{2800}", "\u{13441}", "\u{17B4}",
      "\u{16FE4}", "\u{2D7F}", "\u{1107F}",
    ]
    let others = [
      long + "x", "\u{301}", "a\u{34F}", "a\u{FE0F}", "a\u{200B}", "a\u{AD}b", "\u{202E}a",
      "a\u{0}", "\u{E0041}", "a!", "\u{1F600}",
    ]
    let amid = filled.map { "a\($0)b" }
    for name in filled + amid + others {
      guard case .malformed = Command("name \(name)") else {
        Issue.record("\(Array(name.unicodeScalars))")
        continue
      }
    }
  }

  @Test("who says no more still gets the answers, and then the connection ends")
  func halfClosed() async throws {
    try await serving { _, port, _ in
      try await Client.talk(to: port) { ann in
        for line in ["name ann", "join tea", "say tea hello", "say tea spam"] {
          try await ann.say(line)
        }
        ann.finish()
        var heard: [String] = []
        while let line = try await ann.read() { heard.append(line) }
        #expect(
          heard.filter { ["ok", "no", "by"].contains($0.prefix(2)) }
            == ["ok", "ok", "ok", "no that was not let through", "bye"])
      }
    }
  }

  @Test("nobody takes all rooms, and to come and go counts as talking")
  func joining() async throws {
    try await serving {
      $0.limits.roomsEach = 2
      $0.extensions = ["moderator", "flood-limit"]
      $0.floodLimit = 5
    } _: { _, port, _ in
      try await Client.talk(to: port) { ann in
        try await ann.expect("name ann", "ok")
        for room in ["a", "b"] { try await ann.expect("join \(room)", "ok") }
        try await ann.expect("join c", "no you are in too many rooms")
        var answers: Set<String?> = []
        for _ in 0..<50 {
          _ = try await ann.ask("leave a")
          answers.insert(try await ann.ask("join a"))
        }
        #expect(answers.contains("no you may not join a"))
      }
    }
  }

  @Test("garbage, lines without end and half of a line end a connection, or nothing")
  func hostile() async throws {
    try await serving { _, port, _ in
      try await Client.talk(to: port) { client in
        try await client.send((0...255).map { UInt8($0) } + [10])
        try await client.expect(nil, unknown)
        try await client.expect(nil, unknown)
        try await client.send(Array(repeating: 0xF0, count: 2000))
        try await client.expect(nil, "no that line is too long")
        try await client.expectEnd()
      }
      try await Client.talk(to: port) { client in
        try await client.send(Array(repeating: 10, count: 10_000))
        var answers = 0
        // It may be reset, for not all of it is read.
        while (try? await client.read()) != nil { answers += 1 }
        #expect(answers <= 21)
      }
      try await Client.talk(to: port) { try await $0.send(Array("name an".utf8)) }
      try await Client.talk(to: port) { try await $0.expect("name an", "ok") }
    }
  }

  @Test("those who are too many, say nothing, or not who they are, are disconnected")
  func limits() async throws {
    try await serving {
      $0.limits.connections = 1
    } _: { _, port, _ in
      try await Client.talk(to: port) { first in
        try await first.expect("name ann", "ok")
        try await Client.talk(to: port) { second in
          try await second.expect(nil, "no there are too many connections")
          try await second.expectEnd()
        }
      }
    }
    for limit in [\ChatLimits.greeting, \.silence] {
      try await serving {
        $0.limits[keyPath: limit] = .milliseconds(50)
      } _: { _, port, _ in
        try await Client.talk(to: port) { try await $0.expectEnd() }
      }
    }
  }

  @Test("who does not read is given up, and the others hear everything")
  func deaf() async throws {
    try await serving {
      $0.limits.hearing = .seconds(5)
    } _: { server, port, _ in
      try await Client.talk(to: port) { ann in
        try await ann.expect("name ann", "ok")
        try await ann.expect("join tea", "ok")
        // The server disconnects him in the middle of what he has not read.
        try? await Client.talk(to: port) { bob in
          try await bob.expect("name bob", "ok")
          try await bob.expect("join tea", "ok")
          // He reads nothing from here on.
          let text = String(repeating: "x", count: 900)
          while server.chat.hubs.last?.hub.statistics().protocols.first?.subscribers.count ?? 0 > 1
          {
            try await ann.expect("say tea \(text)", "ok")
          }
        }
        try await ann.say("say tea done")
        try await ann.wait(for: "tea ann: done")
      }
    }
  }

  /// Does not write down what says "stuck", and heeds no cancellation.
  private final class Stuck: AuditLog {
    let (hasBegun, gate) = (Gate(), Gate())

    func write(_ line: String) async {
      guard line.hasSuffix("stuck") else { return }
      hasBegun.open()
      await gate.pass()
    }
  }

  @Test("a server stops in time, and names who hangs: the audit, a gate, or both", arguments: 1...3)
  func stopping(hanging: Int) async throws {
    let (clock, audit) = (ContinuousClock(), Stuck())
    var (begin, clients) = (clock.now, [Task<Void, any Error>]())
    let log = try await serving {
      ($0.limits.drain, $0.limits.audit, $0.audit) = (.seconds(1), .seconds(100), "/dev/null")
    } _: { server, port, _ in
      func say(_ text: String, as name: String) {
        clients.append(
          Task {
            try await Client.talk(to: port) { client in
              try await client.expect("name \(name)", "ok")
              try await client.expect("join tea", "ok")
              try await client.say("say tea \(text)")
              try await client.wait(for: "bye")
            }
          })
      }
      server.chat.hub.subscribe(audit, to: AuditLog.self)
      if hanging & 1 > 0 {
        say("stuck", as: "ann")
        await audit.hasBegun.pass()
      }
      if hanging & 2 > 0 {
        server.shelf.load("hanging")
        say("hello", as: "bob")
        while server.chat.hub.statistics().questions.answering == 0 { await Task.yield() }
      }
      begin = clock.now
    }
    #expect(clock.now < begin + .seconds(20))
    for client in clients { try await client.value }
    let names = ["Stuck", "ChatServerKit.Hanging (hanging)"]
    for (bit, name) in names.enumerated() {
      #expect(
        log.contains { $0.hasPrefix("not drained") && $0.hasSuffix(name) }
          == (hanging >> bit & 1 > 0))
    }
    // No failure has two lines: W13.
    #expect(log.count == Set(log).count, "\(log)")
    audit.gate.open()
  }
}

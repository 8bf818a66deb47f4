import ChatServerKit
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
      (
        "join \(String(repeating: "x", count: 33))",
        "no a name has 1 to 32 letters, digits, - and _"
      ),
      ("say tea hello", "ok"), ("say tea cheap spam", "no that is not welcome here"),
      ("say coffee hello", "no you are not in coffee"), ("leave tea", "ok"),
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

  @Test("a server that stops says goodbye, after what was said, and names who hangs")
  func stopping() async throws {
    let log = try await serving {
      ($0.limits.drain, $0.limits.vote) = (.milliseconds(50), .seconds(2))
    } _: { server, port, _ in
      try await Client.talk(to: port) { ann in
        try await ann.expect("name ann", "ok")
        while try await ann.ask("join tea") != "ok" {}
        server.shelf.load("hanging")
        try await ann.expect("say tea hello", "no that is not welcome here")
      }
    }
    #expect(log.contains("not drained ChatServerKit.Hanging (hanging)"), "\(log)")
    // One that hangs is late once and is not drained once; that no failure has two lines: W13.
    #expect(log.count == Set(log).count, "\(log)")
  }
}

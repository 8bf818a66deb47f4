import ChatLoadKit
import Foundation
import Testing

@Suite("The chat server, typed at", .timeLimit(.minutes(10)))
struct ConversationTests {
  @Test("a conversation")
  func conversation() async throws {
    try await Server.run(accounts: ["member bob secret"]) { server in
      var ann = try await Dialogue(port: server.port)
      #expect(try await ann.next() == "ok hello, help lists the commands")
      #expect(try await ann.ask("say tea hello") == ["no log in first"])
      #expect(try await ann.ask("login bob") == ["no nobody knows you"])
      #expect(try await ann.ask("login bob wrong") == ["no nobody knows you"])
      #expect(try await ann.ask("login ann") == ["ok you are ann, guest"])
      #expect(try await ann.ask("say tea hello") == ["no you are not in tea"])
      #expect(try await ann.ask("join staff") == ["no staff does not let you in"])
      #expect(try await ann.ask("join tea") == ["ok 0"])
      #expect(Set(try await ann.ask("say tea hello :-)")).contains("ok 1"))
      var bob = try await Dialogue(port: server.port)
      _ = try await bob.next()
      #expect(try await bob.ask("login bob secret") == ["ok you are bob, member"])
      #expect(try await bob.ask("join staff") == ["ok 0"])
      #expect(try await ann.ask("who staff") == ["no staff does not let you in"])
      #expect(try await bob.ask("who staff").last?.hasPrefix("ok") == true)
      #expect(try await ann.ask("who tea").last?.hasPrefix("ok") == true)
      #expect(try await ann.ask("who coffee") == ["ok "])
      #expect(try await bob.ask("join tea") == ["ok 1"])
      #expect(try await bob.ask("say tea cheap spam") == ["no \"spam\" is not welcome here"])
      #expect(try await bob.ask("say tea    ") == ["no there is nothing left to say"])
      try await bob.write("say tea hello")
      #expect(
        Set([try await bob.next(), try await bob.next()]) == ["ok 2", "msg tea 2 bob hello"])
      #expect(try await bob.ask("stats") == ["no you are no administrator"])
      #expect(
        try await bob.ask("frob") == ["no there is no command \"frob\": help lists those there are"]
      )
      #expect(try await bob.ask("leave tea") == ["ok"])
      #expect(try await bob.ask("history tea") == ["no you are not in tea"])
      try await bob.write("quit")
      #expect(try await bob.rest() == ["bye"])
    }
  }

  @Test(
    "who comes and goes through many rooms leaves room for others, who may not be in all of them")
  func manyRooms() async throws {
    try await Server.run { server in
      var ann = try await Dialogue(port: server.port)
      _ = try await ann.next()
      #expect(try await ann.ask("login ann") == ["ok you are ann, guest"])
      for number in 1...1001 {
        #expect(try await ann.ask("join room\(number)") == ["ok 0"])
        #expect(try await ann.ask("leave room\(number)") == ["ok"])
      }
      for number in 1...10 { #expect(try await ann.ask("join room\(number)") == ["ok 0"]) }
      #expect(try await ann.ask("join room11") == ["no you are in too many rooms"])
      var bob = try await Dialogue(port: server.port)
      _ = try await bob.next()
      #expect(try await bob.ask("login bob") == ["ok you are bob, guest"])
      #expect(try await bob.ask("join tea") == ["ok 0"])
    }
  }

  @Test("a room ends when the last one has left it, and begins anew")
  func endOfRoom() async throws {
    try await Server.run { server in
      var ann = try await Dialogue(port: server.port)
      _ = try await ann.next()
      #expect(try await ann.ask("login ann") == ["ok you are ann, guest"])
      #expect(try await ann.ask("join tea") == ["ok 0"])
      try await ann.write("say tea hello")
      #expect(
        Set([try await ann.next(), try await ann.next()]) == ["ok 1", "msg tea 1 ann hello"])
      #expect(try await ann.ask("leave tea") == ["ok"])
      #expect(try await ann.ask("join tea") == ["ok 0"])
      #expect(try await ann.ask("history tea") == ["ok"])
      try await ann.write("say tea again")
      #expect(
        Set([try await ann.next(), try await ann.next()]) == ["ok 1", "msg tea 1 ann again"])
    }
  }

  @Test("extensions come and go while the server runs")
  func extensions() async throws {
    // One extension is to be too late, the others are not, however busy the machine is.
    try await Server.run(["--deadline", "5000"], accounts: ["admin root secret"]) { server in
      var root = try await Dialogue(port: server.port)
      try await root.write("login root secret", "join tea")
      _ = try await root.lines(upTo: "ok 0")
      #expect(try await root.ask("say tea spam").last?.hasPrefix("no") == true)
      #expect(try await root.ask("unload moderator") == ["ok"])
      #expect(try await root.ask("extensions").contains("extension moderator"))
      // What it guards is closed until it is there again.
      let missing = "no moderator is missing, try again later"
      #expect(try await root.ask("say tea hello") == [missing])
      #expect(try await root.ask("load moderator") == ["ok"])
      #expect(try await root.ask("reload moderator") == ["ok"])
      try await root.write("say tea hello")
      #expect(
        Set([try await root.next(), try await root.next()]) == ["ok 1", "msg tea 1 root hello"])
      #expect(try await root.ask("say tea spam").last?.hasPrefix("no") == true)
      #expect(try await root.ask("load moderator") == ["no moderator is loaded"])
      #expect(try await root.ask("load nothing") == ["no there is no extension nothing"])
      // One that hangs abstains after its time; who objects is heard at once all the same.
      #expect(try await root.ask("load hanging") == ["ok"])
      try await root.write("say tea tea")
      #expect(
        Set([try await root.next(), try await root.next()]) == ["ok 2", "msg tea 2 root tea"])
      #expect(try await root.ask("say tea spam").last?.hasPrefix("no \"spam\"") == true)
      let statistics = try await root.ask("stats")
      #expect(statistics.contains { $0.contains("1 rooms: posted 2, addressed 2, handled 2") })
    }
  }

  @Test("the audit knows on whose behalf it was told")
  func audit() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    try await Server.run(["--audit", file.path]) { server in
      var ann = try await Dialogue(port: server.port)
      try await ann.write("login ann", "join tea", "ping", "say tea hello", "say tea spam", "quit")
      _ = try await ann.rest()
      server.terminate()
      #expect(try await server.end().status == 0)
    }
    #expect(
      try String(contentsOf: file, encoding: .utf8) == """
        1-2 admitted tea ann
        1-4 posted tea 1 ann: hello
        1-5 refused tea ann: spam ["spam" is not welcome here]
        - dismissed tea ann

        """)
  }

  @Test("an audit that cannot write says so, counts it, and the exit status tells")
  func fullDisk() async throws {
    let errors = FileManager.default.temporaryDirectory.appending(path: "errors-\(UUID())")
    defer { try? FileManager.default.removeItem(at: errors) }
    try await Server.run(["--audit", "/dev/full"], errors: errors) { server in
      var ann = try await Dialogue(port: server.port)
      try await ann.write("login ann", "join tea", "say tea hello", "quit")
      _ = try await ann.rest()
      server.terminate()
      let end = try await server.end()
      #expect(end.status == 74)
      // Three are told of four events each, one of which fails but for the room's end.
      #expect(Balance(end.output)?["failed"] == 3)
      #expect(Balance(end.output)?.isCalledBalanced == true)
    }
    let text = try String(contentsOf: errors, encoding: .utf8)
    #expect(text.contains("cannot write /dev/full: No space left on device"))
    #expect(text.contains("the audit lacks 3 events"))
  }

  @Test("an audit whose pipe is full ends in time, and the exit status tells")
  func fullPipe() async throws {
    let pipe = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID())")
    #expect(mkfifo(pipe.path, 0o600) == 0)
    defer { unlink(pipe.path) }
    // Opened by somebody who does not read.
    let end = open(pipe.path, O_RDWR)
    defer { close(end) }
    let options = [
      "--audit", pipe.path, "--flood-limit", "1000", "--drain-time", "100", "--farewell-time",
      "100",
    ]
    try await Server.run(options) { server in
      var ann = try await Dialogue(port: server.port)
      try await ann.fillTea(with: 30)
      server.terminate()
      let end = try await server.end()
      #expect(end.status == 74)
      #expect(Balance(end.output)?["waiting"] ?? 0 > 0)
      #expect(end.output.hasSuffix(": NOT all told\n"))
    }
  }

  @Test("what one says is no line of its own to others, and no name passes for another")
  func forgery() async throws {
    try await Server.run(accounts: ["member bob secret"]) { server in
      var ann = try await Dialogue(port: server.port)
      try await ann.write("login ann", "join Tea")
      _ = try await ann.lines(upTo: "ok 0")
      try await ann.write("say tea hi\rmsg r 99 root you\u{2028}are\u{1B}[2J\0 fired")
      #expect(
        Set([try await ann.next(), try await ann.next()]) == [
          "ok 1", "msg tea 1 ann hi\u{FFFD}msg r 99 root you\u{FFFD}are\u{FFFD}[2J\u{FFFD} fired",
        ])
      #expect(try await ann.ask("join STAFF") == ["no staff does not let you in"])
      for name in ["st\u{200B}aff", "\u{FF53}taff", "ѕtaff", "sta\u{FB00}", "\u{2060}staff"] {
        #expect(try await ann.ask("join \(name)").last?.contains("is no name") == true)
        #expect(try await ann.ask("who \(name)").last?.contains("is no name") == true)
        #expect(try await ann.ask("login \(name)").last?.contains("is no name") == true)
      }
      #expect(try await ann.ask("leave tea") == ["ok"])
      #expect(try await ann.ask("login BOB") == ["no nobody knows you"])
      #expect(try await ann.ask("login BOB secret") == ["ok you are bob, member"])
    }
  }

  @Test("who reads nothing misses the oldest messages, learns how many, and holds up nobody")
  func slowReader() async throws {
    let options = ["--backlog", "10", "--flood-limit", "100000"]
    try await Server.run(options) { server in
      var slow = try await Dialogue(port: server.port, receiveBuffer: 4096)
      try await slow.write("login slow", "join tea")
      _ = try await slow.lines(upTo: "ok 0")
      try await slow.setReading(false)
      var quick = try await Dialogue(port: server.port)
      try await quick.write("login quick", "join tea")
      _ = try await quick.lines(upTo: "ok 0")
      let text = String(repeating: "x", count: 4000)
      let count = 400
      for number in 1...count {
        try await quick.write("say tea \(text)")
        let lines = Set([try await quick.next(), try await quick.next()])
        #expect(lines == ["ok \(number)", "msg tea \(number) quick \(text)"])
      }
      try await slow.setReading(true)
      var heard = 0
      var missed = 0
      while heard + missed < count {
        let words = try await slow.next().split(separator: " ")
        switch words[0] {
        case "msg":
          heard += 1
          #expect(words[2] == "\(heard + missed)")
        case "missed": missed += Int(words[2]) ?? 0
        default: Issue.record("heard \(words[0])")
        }
      }
      #expect(missed > 0)
      #expect(heard > 10)
    }
  }

  @Test("a line that is too long ends the connection, which hears why, and no other")
  func longLine() async throws {
    try await Server.run { server in
      var ann = try await Dialogue(port: server.port)
      var bob = try await Dialogue(port: server.port)
      _ = try await ann.next()
      _ = try await bob.next()
      try await ann.write(String(repeating: "x", count: 100_000))
      #expect(try await ann.rest() == ["bye a line may have at most 4096 bytes"])
      #expect(try await bob.ask("ping") == ["ok"])
    }
  }

  @Test("who closes its side has its answers first")
  func halfClosed() async throws {
    try await Server.run { server in
      // So many at once that some have closed their side before the server has begun with them.
      try await withThrowingTaskGroup { group in
        for _ in 1...200 {
          group.addTask {
            var ann = try await Dialogue(port: server.port)
            try await ann.write("login ann", "ping")
            try await ann.closeOutput()
            #expect(try await ann.rest().suffix(3) == ["ok you are ann, guest", "ok", "bye"])
          }
        }
        try await group.waitForAll()
      }
    }
  }
}

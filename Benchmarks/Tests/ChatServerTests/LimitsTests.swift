import ChatLoadKit
import Foundation
import NIOCore
import Testing

@Suite("The chat server at its limits", .serialized, .timeLimit(.minutes(10)))
struct LimitsTests {
  @Test(
    "who comes when there are as many connections as there may be is told so, until another goes")
  func connections() async throws {
    try await Server.run(["--connections", "3"]) { server in
      var present: [Dialogue] = []
      for _ in 1...3 {
        var dialogue = try await Dialogue(port: server.port)
        #expect(try await dialogue.next() == "ok hello, help lists the commands")
        present.append(dialogue)
      }
      for _ in 1...100 {
        var fourth = try await Dialogue(port: server.port)
        #expect(try await fourth.rest() == ["bye there are 3 others: try again later"])
      }
      #expect(try await present[0].ask("ping") == ["ok"])
      try await present[1].write("quit")
      #expect(try await present[1].rest() == ["bye"])
      var next = try await Dialogue.whenThereIsPlace(port: server.port)
      #expect(try await next.ask("ping") == ["ok"])
      try await present[2].close()
      var last = try await Dialogue.whenThereIsPlace(port: server.port)
      #expect(try await last.ask("ping") == ["ok"])
      server.terminate()
      let end = try await server.end()
      #expect(end.status == 0)
    }
  }

  @Test("more clients than descriptors leave the server those that it needs itself")
  func descriptors() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    let places = 20
    let options = ["--audit", file.path]
    let accounts = ["admin root secret"]
    try await Server.run(
      options, accounts: accounts, descriptors: places + 48 + 4 * System.coreCount
    ) { server in
      var root = try await Dialogue(port: server.port)
      try await root.write("login root secret")
      _ = try await root.lines(upTo: "ok you are root")
      #expect(try await root.ask("unload audit") == ["ok"])
      let (greetings, greet) = AsyncStream<Void>.makeStream()
      try await withThrowingTaskGroup { group in
        for _ in 1...150 {
          let dialogue = try await Dialogue(port: server.port)
          group.addTask {
            var dialogue = dialogue
            guard try await dialogue.next() == "ok hello, help lists the commands" else { return }
            greet.yield()
            // To the end.
            _ = try await dialogue.rest()
          }
        }
        var count = 1
        for await _ in greetings {
          count += 1
          if count == places { break }
        }
        for _ in 1...100 { #expect(try await root.ask("ping") == ["ok"]) }
        // A file needs a descriptor as well.
        #expect(try await root.ask("load audit") == ["ok"])
        server.terminate()
        let end = try await server.end()
        #expect(end.hasExited)
        #expect(end.status == 0)
        group.cancelAll()
      }
    }
  }

  @Test(
    "a client that does not log in, or is idle afterwards, loses its place",
    arguments: [("--login-time", []), ("--idle-time", ["login ann"])])
  func idleness(_ option: String, _ lines: [String]) async throws {
    // Those who are told to go are waited for only so long.
    let options = ["--connections", "1", option, "100", "--farewell-time", "100"]
    try await Server.run(options) { server in
      var silent = try await Dialogue.whenThereIsPlace(port: server.port)
      for line in lines { try await silent.write(line) }
      _ = try await Dialogue.whenThereIsPlace(port: server.port)
      let reason = lines.isEmpty ? "you have not logged in" : "you have been idle too long"
      #expect(try await silent.rest().last == "bye \(reason)")
    }
  }

  @Test("a browser that was made to write to it is no client")
  func browser() async throws {
    try await Server.run { server in
      var browser = try await Dialogue(port: server.port)
      try await browser.write(
        "POST / HTTP/1.1\r", "Host: localhost\r", "\r", "login web", "join tea")
      #expect(
        try await browser.rest() == [
          "ok hello, help lists the commands", "bye this is no web server",
        ])
    }
  }

  @Test("a client may try so many passwords and no more")
  func logIns() async throws {
    try await Server.run(accounts: ["member bob secret"]) { server in
      var eve = try await Dialogue(port: server.port)
      try await eve.write(String(repeating: "login bob wrong\n", count: 1000))
      let answers = try await eve.rest()
      #expect(answers.filter { $0 == "no nobody knows you" }.count == 10)
      #expect(answers.last == "bye you have tried to log in too often")
    }
  }

  @Test("a log-in that nobody could decide does not read like a wrong password, nor is it one")
  func undecided() async throws {
    try await Server.run(accounts: ["admin root secret"]) { server in
      var root = try await Dialogue(port: server.port)
      var eve = try await Dialogue(port: server.port)
      _ = try await root.next()
      _ = try await eve.next()
      #expect(try await root.ask("login root secret") == ["ok you are root, administrator"])
      #expect(try await root.ask("unload registrar") == ["ok"])
      for line in ["login eve", "login root", "login root secret"] {
        #expect(
          try await eve.ask(line) == [
            "no nobody can say who you are at the moment, try again later"
          ])
      }
      #expect(try await root.ask("load registrar") == ["ok"])
      #expect(try await eve.ask("login root wrong") == ["no nobody knows you"])
      #expect(try await eve.ask("login eve") == ["ok you are eve, guest"])
    }
  }

  @Test("what cannot work is refused before the server listens, with a status")
  func refusals() async throws {
    let cases: [(arguments: [String], descriptors: Int, text: String)] = [
      (["--port", "70000"], 1024, "--port has to be from 0 to 65535"),
      (["--port=-1"], 1024, "--port has to be from 0 to 65535"),
      (["--accounts", "/nowhere"], 1024, "Cannot read /nowhere"),
      (["--accounts", "/dev/zero"], 1024, "is no file"),
      (["--port", "0", "--connections", "\(Int.max)"], 1024, "at most 1000000000"),
      (["--port", "0", "--idle-time", "\(Int.max)"], 1024, "at most 1000000000"),
      (["--port", "0", "--without", "nothing"], 1024, "There is no extension nothing"),
      (["--port", "0", "--connections", "2000"], 1024, "raise the limit (ulimit -n)"),
      (["--port", "0", "--lines", "0"], 1024, "--lines has to be 1 or more"),
      (["--port", "0"], 20, "raise the limit (ulimit -n)"),
      (["--port", "0"], 12, "raise the limit (ulimit -n)"),
    ]
    for (arguments, descriptors, text) in cases {
      let end = try await Server.fail(arguments, descriptors: descriptors)
      #expect(end.status == 64, "\(arguments)")
      #expect(end.output.contains(text), "\(arguments): \(end.output)")
      #expect(!end.output.contains("listening"))
    }
  }

  @Test(
    "a client that takes nothing of what it is sent loses its place, even if not much waits for it",
    arguments: [(true, 20_000), (false, 20_000), (false, 1_700)])
  func writeTimeout(_ isHalfClosed: Bool, _ count: Int) async throws {
    try await Server.run(["--connections", "1", "--write-timeout", "100"]) { server in
      var deaf = try await Dialogue(port: server.port, receiveBuffer: 4096)
      _ = try await deaf.next()
      try await deaf.setReading(false)
      // Too much for the kernel's buffers: it is answered with 216 bytes each time.
      let questions = String(repeating: "help\n", count: count)
      try await deaf.write(questions)
      if isHalfClosed { try await deaf.closeOutput() }
      _ = try await Dialogue.whenThereIsPlace(port: server.port)
    }
  }

  @Test("who floods with lines waits, and is counted; nobody else has to wait")
  func flood() async throws {
    try await Server.run(
      ["--lines", "1", "--farewell-time", "100"], accounts: ["admin root secret"]
    ) {
      server in
      var floods: [Dialogue] = []
      for number in 1...3 {
        let flood = try await Dialogue(port: server.port)
        if number == 3 { try await flood.write("login ann") }
        try await flood.write(String(repeating: number == 1 ? "\n" : "ping\n", count: 1000))
        floods.append(flood)
      }
      var root = try await Dialogue(port: server.port)
      _ = try await root.next()
      #expect(try await root.ask("login root secret") == ["ok you are root, administrator"])
      let metrics = try await root.ask("metrics")
      let held = metrics.first { $0.hasPrefix("metric chat_lines_held_total ") }
      #expect(Int(held?.split(separator: " ").last ?? "") ?? 0 >= 1)
      server.terminate()
      // What they wrote is not carried out any more.
      for var flood in floods {
        let lines = try await flood.rest()
        #expect(lines.last == "bye")
        #expect(lines.count < 100)
      }
      #expect(try await server.end().status == 0)
    }
  }

  @Test("clients that ask for history and do not read do not fill the memory")
  func deaf() async throws {
    try await Server.run(["--flood-limit", "1000"]) { server in
      var ann = try await Dialogue(port: server.port)
      try await ann.fillTea(with: 20)
      let before = try #require(server.peakMemory)
      var deaf: [Dialogue] = []
      for number in 1...200 {
        var dialogue = try await Dialogue(port: server.port, receiveBuffer: 4096)
        try await dialogue.write("login guest\(number)", "join tea")
        _ = try await dialogue.lines(upTo: "ok 2", "no")
        try await dialogue.setReading(false)
        try await dialogue.write(String(repeating: "history tea 100\n", count: 15))
        deaf.append(dialogue)
      }
      // The last of them has been read when these are answered.
      for _ in 1...100 { #expect(try await ann.ask("ping") == ["ok"]) }
      let grown = try #require(server.peakMemory) - before
      #expect(grown < deaf.count * 256 * 1024, "\(grown / 1024) KB")
      server.kill()
    }
  }
}

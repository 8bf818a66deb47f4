import ChatLoadKit
import ChatServerKit
import Foundation
import Testing

@Suite("The chat server's end", .serialized, .timeLimit(.minutes(10)))
struct ShutdownTests {
  @Test("SIGTERM under load: what was accepted is heard by everybody, then all connections end")
  func underLoad() async throws {
    try await Server.run(["--flood-limit", "100000"]) { server in
      var plan = LoadPlan()
      plan.port = server.port
      // All in one room, and each says something as soon as it has heard its last, so that there is
      // always something on its way to everybody.
      plan.clients = 40
      plan.rooms = 1
      plan.rate = 0
      plan.senders = 40
      plan.patience = .seconds(30)
      let load = try await Load(plan)
      try await load.speak()
      try await load.waitUntilHeard(1000)
      server.terminate()
      let result = try await load.finishAfterClose()
      #expect(result.faults == [])
      #expect(result.accepted > 0)
      #expect(result.heard >= 1000)
      let end = try await server.end()
      #expect(end.hasExited)
      #expect(end.status == 0)
      let balance = try #require(Balance(end.output))
      #expect(balance.accountedFor == balance["addressed"])
      #expect(balance["waiting"] == 0)
      #expect(balance["dropped"] == 0)
      #expect(balance["handled"] >= result.heard, "each message heard was a notification handled")
    }
  }

  @Test("clients that misbehave and an extension that hangs harm nobody, and the accounts add up")
  func misbehaviour() async throws {
    // Some read nothing, to the end.
    let options = [
      "--flood-limit", "50", "--drain-time", "500", "--farewell-time",
      "2000",
    ]
    // One extension is to be too late, the others are not.
    try await Server.run(options + ["--deadline", "1000"], accounts: ["admin root root"]) {
      server in
      var plan = LoadPlan()
      plan.port = server.port
      plan.clients = 20
      plan.rooms = 2
      plan.rate = 100
      plan.duration = .seconds(2)
      plan.misbehaves = true
      plan.administrator = ("root", "root")
      plan.patience = .seconds(30)
      let result = try await Load(plan).run()
      #expect(result.faults == [])
      #expect(result.refused == [:])
      #expect(result.accepted > 0)
      server.terminate()
      let end = try await server.end()
      #expect(end.hasExited)
      #expect(end.status == 0)
      let balance = try #require(Balance(end.output))
      #expect(balance.isCalledBalanced)
      #expect(balance.accountedFor == balance["addressed"])
    }
  }

  @Test(
    "each engine gives everybody what was accepted, once and in one order",
    arguments: EngineKind.allCases)
  func engines(_ engine: EngineKind) async throws {
    try await Server.run(["--engine", engine.rawValue, "--flood-limit", "1000"]) { server in
      var plan = LoadPlan()
      plan.port = server.port
      plan.clients = 20
      plan.rooms = 2
      plan.rate = 0
      plan.duration = .milliseconds(300)
      // Of those that are said at once, whatever comes of the time.
      plan.unwelcomeEvery = 3
      plan.patience = .seconds(30)
      let result = try await Load(plan).run()
      #expect(result.faults == [])
      #expect(result.accepted > 0)
      #expect(result.refusedRightly > 0)
      server.terminate()
      #expect(try await server.end().status == 0)
    }
  }

  @Test("connections that arrive at SIGTERM are served or closed, and the server ends as it should")
  func newcomers() async throws {
    // The moment has to be met, so more than once.
    for _ in 1...6 {
      try await Server.run { server in
        try await withThrowingTaskGroup { group in
          let (arrivals, arrive) = AsyncStream<Void>.makeStream()
          for _ in 1...8 {
            group.addTask {
              // Connects until nobody listens any more.
              while let dialogue = try? await Dialogue(port: server.port) {
                arrive.yield()
                try? await dialogue.close()
              }
            }
          }
          var count = 0
          for await _ in arrivals {
            count += 1
            if count == 50 { break }
          }
          server.terminate()
          let end = try await server.end()
          #expect(end.hasExited)
          #expect(end.status == 0)
          #expect(Balance(end.output)?.isCalledBalanced == true)
        }
      }
    }
  }

  @Test(
    "SIGTERM and SIGINT end it in order, and what that means for the rooms is written down",
    arguments: [SIGTERM, SIGINT])
  func signals(_ signal: Int32) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    try await Server.run(["--audit", file.path]) { server in
      var ann = try await Dialogue(port: server.port)
      try await ann.write("login ann", "join tea", "say tea hello")
      _ = try await ann.lines(upTo: "ok 1")
      server.send(signal)
      #expect(try await ann.rest().last == "bye")
      let end = try await server.end()
      #expect(end.hasExited)
      #expect(end.status == 0)
      #expect(Balance(end.output)?.isCalledBalanced == true)
    }
    #expect(try String(contentsOf: file, encoding: .utf8).hasSuffix("- dismissed tea ann\n"))
  }

  @Test("SIGHUP ends nothing, and has the audit go on in a new file")
  func hangUp() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID())")
    let old = file.appendingPathExtension("old")
    defer { for file in [file, old] { try? FileManager.default.removeItem(at: file) } }
    try await Server.run(["--audit", file.path]) { server in
      var ann = try await Dialogue(port: server.port)
      try await ann.write("login ann", "join tea")
      _ = try await ann.lines(upTo: "ok 0")
      try FileManager.default.moveItem(at: file, to: old)
      server.send(SIGHUP)
      while !FileManager.default.fileExists(atPath: file.path) { await Task.yield() }
      try await ann.write("say tea hello")
      _ = try await ann.lines(upTo: "ok 1")
      server.terminate()
      #expect(try await server.end().status == 0)
    }
    let texts = try [old, file].map { try String(contentsOf: $0, encoding: .utf8) }
    #expect(texts.joined().contains("admitted tea ann\n"))
    #expect(texts.joined().split(separator: "\n").count == 3, "nothing is lost")
  }

  @Test("a page whose port somebody else has keeps the server from beginning")
  func pagePort() async throws {
    try await Server.run { server in
      let end = try await Server.fail(["--port", "0", "--page", "\(server.port)"])
      #expect(end.status == 1)
      #expect(end.output.contains("The page cannot listen on 127.0.0.1, port \(server.port)"))
      #expect(!end.output.contains("listening"))
    }
  }

  @Test("the error names the port that somebody else listens on")
  func port() async throws {
    try await Server.run { server in
      let end = try await Server.fail(["--port", "\(server.port)"])
      #expect(end.status == 1)
      #expect(end.output.contains("cannot listen on 127.0.0.1, port \(server.port): "))
    }
  }

  @Test("a server ends when its standard input does, if it is told to")
  func input() async throws {
    try await Server.run { server in
      try server.closeInput()
      let end = try await server.end()
      #expect(end.hasExited)
      #expect(end.status == 0)
    }
  }

  @Test("who is connected when the server ends gets what was posted and a bye")
  func bye() async throws {
    try await Server.run { server in
      var dialogue = try await Dialogue(port: server.port)
      try await dialogue.write("login ann", "join tea", "say tea one", "say tea two")
      _ = try await dialogue.lines(upTo: "ok 2")
      server.terminate()
      let rest = try await dialogue.rest()
      #expect(rest.last == "bye")
    }
  }
}

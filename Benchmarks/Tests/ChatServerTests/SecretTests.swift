import ChatLoadKit
import Foundation
import Testing

@testable import ChatServerKit

@Suite("Secrets", .timeLimit(.minutes(10)))
struct SecretTests {
  @Test("nothing that holds a password shows it")
  func descriptions() throws {
    var configuration = ServerConfiguration()
    configuration.accounts = [Account(name: "root", password: "hunter2", role: .administrator)]
    let holders: [Any] = [
      Secret("hunter2"), configuration, configuration.accounts[0],
      Registrar(configuration.accounts),
      try Command("login root hunter2"), Credentials(name: "root", password: "hunter2"),
    ]
    for holder in holders {
      var dumped = ""
      dump(holder, to: &dumped)
      for text in ["\(holder)", String(reflecting: holder), dumped] {
        #expect(!text.contains("hunter2"), "\(text)")
      }
    }
  }

  @Test("whatever is printed in a whole run has none, at the most talkative level")
  func wholeRun() async throws {
    let errors = FileManager.default.temporaryDirectory.appending(path: "errors-\(UUID())")
    let audit = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID())")
    defer { for file in [errors, audit] { try? FileManager.default.removeItem(at: file) } }
    let arguments = ["--log-level", "trace", "--audit", audit.path, "--page", "0"]
    var printed = ""
    try await Server.run(
      arguments, accounts: ["admin root hunter2", "member bob opensesame"], errors: errors
    ) { server in
      var root = try await Dialogue(port: server.port)
      try await root.write("login root hunter2", "join tea")
      _ = try await root.lines(upTo: "ok 0")
      for name in ["registrar", "doorkeeper", "audit"] {
        #expect(try await root.ask("reload \(name)") == ["ok"])
        #expect(try await root.ask("unload \(name)") == ["ok"])
        var bob = try await Dialogue(port: server.port)
        try await bob.write(
          "login bob guess1234", "login bob opensesame", "login root opensesame", "join tea", "quit"
        )
        printed += try await bob.rest().joined(separator: "\n")
        // The words in the wrong order.
        var ann = try await Dialogue(port: server.port)
        try await ann.write("login swapped1 bob", "quit")
        _ = try await ann.rest()
        #expect(try await root.ask("load \(name)") == ["ok"])
      }
      printed += try await root.ask("stats").joined(separator: "\n")
      printed += try await root.ask("metrics").joined(separator: "\n")
      server.terminate()
      let end = try await server.end()
      #expect(end.status == 0)
      printed += end.output
    }
    let log = try String(contentsOf: errors, encoding: .utf8)
    #expect(!log.contains("swapped1"))
    for text in [printed, log, try String(contentsOf: audit, encoding: .utf8)] {
      for secret in ["hunter2", "opensesame", "guess1234"] { #expect(!text.contains(secret)) }
    }
    // It is the whole run, and says who did what.
    #expect(log.contains("a log-in was refused"))
    #expect(log.contains("by=root") && log.contains("extension=doorkeeper"))
  }

  @Test("accounts that others may read are refused, and a bad line is named without its words")
  func accounts() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "accounts-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    func write(
      _ text: String, _ mode: Int, _ encoding: String.Encoding = .utf8
    ) throws {
      try text.write(to: file, atomically: false, encoding: encoding)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
    for (text, mode, problem) in [
      ("admin root hunter2\n", 0o640, "Others may read or write"),
      ("admin root hunter2\n", 0o602, "Others may read or write"),
      (
        "# all\n\nadmin root hunter2\nmember Root x\n", 0o600,
        "line 4: its user has the name of the one in line 3"
      ),
      ("root:hunter2\n", 0o600, "line 1: a line is"), ("admin root \n", 0o600, "line 1: a line is"),
      ("boss root hunter2\n", 0o600, "line 1: a line is"),
      ("admin r\u{F6}\u{F6}t hunter2\n", 0o600, "line 1: a name has"),
      ("admin root hunter2\r\n", 0o600, "line 1: the password has"),
      ("member hunter2 bob\nmember hunter2 ann\n", 0o600, "line 2: its user has"),
      ("\nadmin root hunter2\u{FFFD}\n", 0o600, "line 2: it is not UTF-8"),
    ] {
      try write(text, mode)
      let end = try await Server.fail(["--port", "0", "--accounts", file.path])
      #expect(end.status == 64)
      #expect(end.output.contains(problem), "\(end.output)")
      #expect(!end.output.contains("hunter2") && !end.output.contains("listening"))
    }
    try write("# all\nadmin root hunter2\u{F6}\n", 0o600, .isoLatin1)
    let end = try await Server.fail(["--port", "0", "--accounts", file.path])
    #expect(end.output.contains("line 2: it is not UTF-8") && !end.output.contains("hunter2"))
    try write("# all\nadmin root hunter2\n\nmember bob a b", 0o400)
    #expect(try AccountFile.accounts(at: file.path).map(\.user.name) == ["root", "bob"])
  }
}

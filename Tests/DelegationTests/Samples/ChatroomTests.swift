import Foundation
import Testing

/// The demo as others run it: a process, with nothing but its input and output.
@Suite("The chat room", .inTurn)
struct ChatroomTests {
  @Test("rules veto, observers are told, and a rule that is released votes no more")
  func session() async throws {
    let result = try await Chatroom.run(
      ["--pace", "1"],
      input: """
        alice: hello everybody
        bob: this is SPAM, honestly
        /mute alice
        alice: psst
        /rules
        /unmute Alice
        alice: back again
        /rules
        /last 2
        /stats
        """)
    #expect(
      result.output == """
        delivered  alice: hello everybody
        vetoed     bob: this is SPAM, honestly  [moderator: "spam" is not welcome here]
        room       alice is muted
        vetoed     alice: psst  [muting rule: alice is muted]
        rules      flood limiter: at most 5 messages a sender within 10 s
        rules      moderator: 6 unwelcome words
        rules      muting rule: nothing from alice
        room       Alice may speak again
        delivered  alice: back again
        rules      flood limiter: at most 5 messages a sender within 10 s
        rules      moderator: 6 unwelcome words
        last       alice: hello everybody
        last       alice: back again
        stats      4 messages: 2 delivered, 2 vetoed
        stats      delivered by sender: alice 2
        stats      vetoed by rule: moderator 1, muting rule 1
        summary    4 messages: 2 delivered, 2 vetoed
        summary    delivered by sender: alice 2
        summary    vetoed by rule: moderator 1, muting rule 1

        """)
    #expect(result.errors == "")
    #expect(result.status == 0)
  }

  @Test("the flood limiter lets through what its rate permits, by the messages' own time")
  func flood() async throws {
    let result = try await Chatroom.run(
      ["--pace", "1", "--limit", "2", "--window", "4"],
      input: "eve: 1\neve: 2\neve: 3\nbob: 4\nEve: 5\neve: 6\n")
    #expect(
      result.output == """
        delivered  eve: 1
        delivered  eve: 2
        vetoed     eve: 3  [flood limiter: 2 messages within 4 s is the limit]
        delivered  bob: 4
        delivered  Eve: 5
        delivered  eve: 6
        summary    6 messages: 5 delivered, 1 vetoed
        summary    delivered by sender: eve 3, Eve 1, bob 1
        summary    vetoed by rule: flood limiter 1

        """)
  }

  @Test("bad lines are answered and stop nothing")
  func badLines() async throws {
    let input = "nonsense\n\n/frob\r\n/last\n/last -1\n/mute\n/stats now\n: x\nx y: z\nzed:\n"
    let result = try await Chatroom.run(
      [], input: Data(input.utf8) + [0x77, 0xFF, 0x1B, 0x3A, 0x76, 0x0D, 0x0A])
    #expect(
      result.output == """
        error      line 1: "nonsense" has no colon: write "name: text", or /help for the commands
        error      line 3: there is no command "/frob": /help lists those there are
        error      line 4: /last needs a positive number: try /last 10
        error      line 5: /last needs a positive number, not "-1": try /last 10
        error      line 6: there is no name after /mute: write one
        error      line 7: /stats stands alone: leave out "now"
        error      line 8: there is no name before the colon: write one
        error      line 9: "x y" before the colon is not a name: a name is one word without a colon
        error      line 10: zed says nothing: write a text after the colon
        delivered  w\u{FFFD}\u{FFFD}: v
        summary    1 message: 1 delivered, 0 vetoed
        summary    delivered by sender: w\u{FFFD}\u{FFFD} 1
        summary    9 lines not understood

        """)
    #expect(result.status == 0)
  }

  @Test("a simulation's accounts add up")
  func simulation() async throws {
    let result = try await Chatroom.run(["--simulate", "2000", "--tasks", "20"], input: "")
    let accounts = "accounts:   2,000 posted x 3 observers = 6,000 handled, none left: ok\n"
    #expect(result.output.hasSuffix(accounts))
    #expect(result.errors == "")
    #expect(result.status == 0)
  }

  @Test("when nobody reads its output it ends, with the summary on standard error")
  func brokenPipe() async throws {
    let result = try await Chatroom.run(
      [], input: String(repeating: "al: hi\n", count: 5), readsOutput: false)
    #expect(
      result.errors == """
        summary    1 message: 1 delivered, 0 vetoed
        summary    delivered by sender: al 1

        """)
    #expect(result.status == 0)
  }

  @Test("an input that cannot be read is an error, and what was read before it counts")
  func unreadableInput() async throws {
    let folder = FileManager.default.temporaryDirectory
    let result = try await Chatroom.run([], standardInput: FileHandle(forReadingFrom: folder))
    #expect(result.output == "summary    0 messages: 0 delivered, 0 vetoed\n")
    #expect(result.errors == "chatroom: cannot read standard input: Is a directory\n")
    #expect(result.status == 74)
  }

  @Test("many messages of one sender within a window are let through, and many tasks take part")
  func scale() async throws {
    let line = Data("al: hi\n".utf8)
    let count = 2_000
    let input = Data((0..<count).flatMap { _ in line })
    let result = try await Chatroom.run(["--limit", "1000000", "--window", "86400"], input: input)
    #expect(result.output.contains("summary    2,000 messages: 2,000 delivered, 0 vetoed\n"))
    let simulation = try await Chatroom.run(
      ["--simulate", "2000", "--tasks", "10000"], input: "")
    #expect(
      simulation.output.hasSuffix(
        "accounts:   2,000 posted x 3 observers = 6,000 handled, none left: ok\n"))
    #expect(simulation.status == 0)
    let refused = try await Chatroom.run(["--simulate", "2000", "--tasks", "100000"], input: "")
    #expect(refused.errors.contains("--tasks needs a whole number from 1 to 10000"))
    #expect(refused.status == 64)
  }

  @Test(
    "what nobody sees hides no word and turns no writing around; a list of words has an end")
  func unseen() async throws {
    let input = "eve: cheap sp\u{AD}am\neve: a\u{202E}b\neve: s\u{200B}cam\n"
    let result = try await Chatroom.run(["--pace", "1"], input: input)
    #expect(
      result.output.hasPrefix(
        """
        vetoed     eve: cheap spam  [moderator: "spam" is not welcome here]
        delivered  eve: ab
        vetoed     eve: scam  [moderator: "scam" is not welcome here]
        """))
    let endless = try await Chatroom.run(["--words", "/dev/zero"], input: "")
    #expect(endless.status == 66)
  }

  @Test("an unknown option is refused with status 64")
  func unknownOption() async throws {
    let result = try await Chatroom.run(["--frob"], input: "")
    #expect(
      result.errors == "chatroom: unknown option \"--frob\"; chatroom --help lists the options\n")
    #expect(result.output == "")
    #expect(result.status == 64)
  }
}

/// The built demo.
private enum Chatroom {
  struct Result {
    let output: String
    let errors: String
    let status: Int32
  }

  struct NotBuilt: Error {
    let lookedFor: [String]
  }

  static func run(
    _ arguments: [String], input: String, readsOutput: Bool = true
  ) async throws -> Result {
    try await run(arguments, input: Data(input.utf8), readsOutput: readsOutput)
  }

  /// Runs it to its end, off the pool whose threads the other suites need.
  static func run(
    _ arguments: [String], input: Data = Data(), standardInput: FileHandle? = nil,
    readsOutput: Bool = true
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Swift.Result {
            try runHere(
              arguments, input: input, standardInput: standardInput, readsOutput: readsOutput)
          })
      }
    }
  }

  private static func runHere(
    _ arguments: [String], input: Data, standardInput: FileHandle?, readsOutput: Bool
  ) throws -> Result {
    // Files and not pipes: what a test writes cannot then fill up, and no other process that starts
    // meanwhile can keep an end open.
    let folder = FileManager.default.temporaryDirectory.appending(path: "chatroom-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = ["in", "out", "err"].map { folder.appending(path: $0) }
    try input.write(to: files[0])
    try Data().write(to: files[1])
    try Data().write(to: files[2])

    let process = Process()
    process.executableURL = try executable()
    process.arguments = arguments
    process.standardInput = try standardInput ?? FileHandle(forReadingFrom: files[0])
    process.standardError = try FileHandle(forWritingTo: files[2])
    let closed = Pipe()
    process.standardOutput = try readsOutput ? FileHandle(forWritingTo: files[1]) : closed
    try closed.fileHandleForReading.close()
    try process.run()
    process.waitUntilExit()
    return Result(
      output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self),
      status: process.terminationStatus)
  }

  /// The demo, which lies beside the tests' bundle or program.
  private static func executable() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles + [URL(filePath: CommandLine.arguments[0])]
    let candidates = tests.map { $0.deletingLastPathComponent().appending(path: "chatroom") }
    guard
      let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
    else { throw NotBuilt(lookedFor: candidates.map(\.path)) }
    return found
  }
}

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
    #expect(result.errors == "" && result.status == 0)
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
    let result = try await Chatroom.run(
      [], input: "nonsense\n\n/frob\r\n/last -1\n/mute\n/stats now\n: x\nx y: z\nzed:\nal: v\n")
    #expect(
      result.output == """
        error      line 1: "nonsense" has no colon: write "name: text", or /help for the commands
        error      line 3: there is no command "/frob": /help lists those there are
        error      line 4: /last needs a positive number, not "-1": try /last 10
        error      line 5: there is no name after /mute: write one
        error      line 6: /stats stands alone: leave out "now"
        error      line 7: there is no name before the colon: write one
        error      line 8: "x y" before the colon is not a name: a name is one word without a colon
        error      line 9: zed says nothing: write a text after the colon
        delivered  al: v
        summary    1 message: 1 delivered, 0 vetoed
        summary    delivered by sender: al 1
        summary    8 lines not understood

        """)
    #expect(result.status == 0)
  }

  @Test("an unknown option is refused with status 64")
  func unknownOption() async throws {
    let result = try await Chatroom.run(["--frob"], input: "")
    #expect(
      result.errors == "chatroom: unknown option \"--frob\"; chatroom --help lists the options\n")
    #expect(result.output == "" && result.status == 64)
  }
}

/// The built demo.
private enum Chatroom {
  struct Result {
    let output: String
    let errors: String
    let status: Int32
  }

  /// Runs it to its end, off the pool whose threads the other suites need.
  static func run(_ arguments: [String], input: String) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Swift.Result { try runHere(arguments, input: Data(input.utf8)) })
      }
    }
  }

  private static func runHere(_ arguments: [String], input: Data) throws -> Result {
    // Files and not pipes: what a test writes cannot then fill up, and no other process that starts
    // meanwhile can keep an end open.
    let folder = FileManager.default.temporaryDirectory.appending(path: "chatroom-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = ["in", "out", "err"].map { folder.appending(path: $0) }
    for (file, content) in zip(files, [input, Data(), Data()]) { try content.write(to: file) }
    let process = Process()
    process.executableURL = try executable()
    process.arguments = arguments
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
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
    else { throw Refusal(reason: "chatroom is not built: \(candidates.map(\.path))") }
    return found
  }
}

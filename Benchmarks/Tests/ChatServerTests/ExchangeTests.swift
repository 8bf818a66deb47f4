import Delegation
import Logging
import Synchronization
import Testing

@testable import ChatServerKit
@testable import DelegationAdapters

/// Questions that guard something, while those who answer them are exchanged, hang or are gone.
@Suite("What is closed stays closed", .timeLimit(.minutes(10)))
struct ExchangeTests {
  private struct Stage {
    let engine: any Engine
    let shelf: ExtensionShelf
    let log = LogBook()

    init(_ kind: EngineKind) async throws {
      var configuration = ServerConfiguration()
      configuration.engine = kind
      configuration.deadline = .seconds(3600)
      configuration.accounts = [
        Account(name: "root", password: "secret", role: .administrator)
      ]
      configuration.auditFile = "/dev/null"
      let logger = Logger(label: "test") { [log] _ in log }
      let server = ChatServer(configuration, metrics: MetricsBook(), logger: logger)
      engine = Engines.make(kind)
      shelf = ExtensionShelf(engine: engine, makers: server.makers, logger: logger)
      for (name, _) in server.makers where name != "hanging" {
        try await shelf.load(name, by: [:])
      }
    }

    func recognition(_ name: String, _ password: String? = nil) async -> Recognition {
      await engine.user(for: Credentials(name: name, password: password))
    }

    func verdict(_ text: String, by user: User, _ connection: Int = 1) async -> Verdict {
      await engine.verdict(
        on: Draft(room: "tea", sender: user, connection: connection, text: text))
    }
  }

  /// What guests have come to.
  private final class Tries: Sendable {
    let successes = Mutex<[String]>([])
    let guests = Atomic(4)
  }

  private static let guest = User(name: "eve", role: .guest)
  private static let root = User(name: "root", role: .administrator)

  @Test("while any extension is exchanged, no guest gets in", arguments: EngineKind.allCases)
  func exchange(_ kind: EngineKind) async throws {
    let stage = try await Stage(kind)
    let names = await stage.shelf.list.filter { $0.state == ", loaded" }.map(\.name)
    #expect(names.count == 10)
    let tries = Tries()
    try await withThrowingTaskGroup { group in
      for guest in 1...4 {
        group.addTask {
          defer { tries.guests.subtract(1, ordering: .relaxed) }
          func note(_ text: String) { tries.successes.withLock { $0.append(text) } }
          for _ in 1...500 {
            if case .known(let user) = await stage.recognition("ROOT") { note("\(user)") }
            if await stage.engine.mayJoin("staff", Self.guest) == .agrees { note("staff") }
            if await stage.verdict("spam", by: Self.guest, guest) == .agrees { note("spam") }
          }
        }
      }
      group.addTask {
        for turn in 0... {
          if turn > 2, tries.guests.load(ordering: .relaxed) == 0 { break }
          for name in names {
            if turn.isMultiple(of: 2) {
              try await stage.shelf.reload(name, by: [:])
            } else {
              try await stage.shelf.unload(name, by: [:])
              await Task.yield()
              try await stage.shelf.load(name, by: [:])
            }
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(tries.successes.withLock { $0 } == [])
    // And who may, still does.
    #expect(await stage.recognition("root", "secret") == .known(Self.root))
    #expect(await stage.recognition("eve") == .known(Self.guest))
    #expect(await stage.engine.mayJoin("staff", Self.root) == .agrees)
    #expect(await stage.verdict("hello", by: Self.root) == .agrees)
  }

  @Test(
    "who is exchanged in one step is never missed", arguments: [EngineKind.hub, .actor, .queues])
  func reload(_ kind: EngineKind) async throws {
    let stage = try await Stage(kind)
    for _ in 1...20 {
      for name in ["registrar", "doorkeeper", "moderator", "flood-limit"] {
        try await stage.shelf.reload(name, by: [:])
        #expect(await stage.recognition("eve") == .known(Self.guest))
        #expect(await stage.engine.mayJoin("staff", Self.root) == .agrees)
        #expect(await stage.verdict("hello", by: Self.root) == .agrees)
      }
    }
  }

  @Test("without one that guards, nothing that it guards", arguments: EngineKind.allCases)
  func unloaded(_ kind: EngineKind) async throws {
    let stage = try await Stage(kind)
    for name in ["registrar", "doorkeeper", "moderator"] {
      try await stage.shelf.unload(name, by: ["by": "ann"])
    }
    #expect(await stage.recognition("root") == .undecided(missing: "registrar"))
    #expect(await stage.recognition("eve") == .undecided(missing: "registrar"))
    #expect(await stage.engine.mayJoin("tea", Self.root) != .agrees)
    #expect(await stage.verdict("hello", by: Self.root) != .agrees)
    try await stage.shelf.load("registrar", by: [:])
    try await stage.shelf.unload("guests", by: [:])
    #expect(await stage.recognition("eve") == .undecided(missing: "guests"))
    #expect(await stage.recognition("root", "secret") == .known(Self.root), "before the guests")
    let lines = stage.log.lines.filter { $0.contains("unloaded") }
    #expect(lines.contains("an extension was unloaded by=ann extension=doorkeeper"))
  }

  @Test("who is missed is logged, and a trouble for the page until it is there")
  func missing() async throws {
    let stage = try await Stage(.hub)
    let logger = Logger(label: "test") { [log = stage.log] _ in log }
    let chat = Chat(
      engine: stage.engine, extensions: stage.shelf, metrics: MetricsBook(),
      faults: FaultLog(logger), roomLimit: 4, roomsEach: (10, 50))
    for name in ["registrar", "doorkeeper"] { try await stage.shelf.unload(name, by: [:]) }
    #expect(chat.missing.troubles.isEmpty)
    for _ in 1...2 {
      _ = await chat.logIn(Credentials(name: "eve", password: nil))
      #expect(
        await chat.people(in: "tea", for: Self.guest, isInside: false)
          == .failure("doorkeeper is missing, try again later"))
    }
    #expect(
      stage.log.lines.contains("an extension was missing extension=doorkeeper refused=joins"))
    #expect(Set(chat.missing.troubles.map(\.who)) == ["registrar", "doorkeeper"])
    #expect(chat.missing.troubles.allSatisfy { $0.what.contains(": 2 ") })
    for name in ["registrar", "doorkeeper"] { try await stage.shelf.load(name, by: [:]) }
    _ = await chat.logIn(Credentials(name: "eve", password: nil))
    #expect(chat.missing.troubles.map(\.who) == ["doorkeeper"])
    chat.missing.find("doorkeeper")
    #expect(chat.missing.troubles.isEmpty)
  }

  /// Never answers, and guards a room.
  private final class Stuck: MessageRule, JoinRule {
    let name = "stuck"
    let options = ExtensionOptions()
    private let gate = AsyncStream<Void>.makeStream()

    func verdict(on draft: Draft) async -> Verdict {
      for await _ in gate.stream {}
      return .agrees
    }
    func mayJoin(_ room: String, _ user: User) async -> Bool {
      _ = await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      return true
    }
  }

  @Test("one whose handlers pile up is given up, and what it guards stays closed")
  func givingUp() async throws {
    let engine = Engines.make(.hub, deadline: .nanoseconds(1_000_000))
    let stuck = Stuck()
    await engine.add(stuck)
    while !engine.givenUp.contains("stuck") {
      #expect(await engine.mayJoin("tea", Self.guest) != .agrees)
    }
    #expect(
      await engine.mayJoin("tea", Self.guest)
        == .misses("stuck"))
    await engine.remove(stuck)
    #expect(engine.givenUp == [])
    #expect(await engine.mayJoin("tea", Self.guest) != .agrees)
  }
}

import Delegation
import Foundation
import Logging
import Testing

@testable import ChatServerKit

@Suite("The chat: its votes fail closed, and its audit loses nothing", .timeLimit(.minutes(5)))
final class ChatTests {
  /// A file for the audit, of each test's own.
  private let path = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID())").path
  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Lets somebody pass, or not, or throws.
  private final class Guard: JoinGate, SpeechGate {
    struct Broken: Error {}
    let answer: Bool?
    init(_ answer: Bool?) { self.answer = answer }

    func mayJoin(_ room: String, as name: String) throws -> Bool { try decide() }
    func maySay(_ message: Message) throws -> Bool { try decide() }
    private func decide() throws -> Bool {
      guard let answer else { throw Broken() }
      return answer
    }
  }

  /// Limits that a busy machine does not reach.
  private static let patient = {
    var limits = ChatLimits()
    (limits.vote, limits.audit, limits.hearing) = (.seconds(100), .seconds(100), .seconds(100))
    return limits
  }()

  /// A chat in which somebody has joined a room.
  private func chat(
    isAudited: Bool = false, _ limits: ChatLimits = patient
  ) async -> (Chat, Listener) {
    let logger = Logger(label: "chat") { _ in SwiftLogNoOpLogHandler() }
    let (chat, ann) = (Chat(limits, isAudited: isAudited, logger: logger), Listener())
    chat.hub.subscribe(
      Guard(true), toEachOf: JoinGate.self, SpeechGate.self, id: "yes", hold: .strongly)
    #expect(chat.enter(as: "ann", ann) == .done)
    // A gate may be late on a busy machine.
    while await chat.join("tea", as: "ann") != .done {}
    return (chat, ann)
  }

  private func settle(_ chat: Chat) async {
    for (_, hub) in chat.hubs { await hub.drain() }
  }

  @Test("joining and speaking need a gate that agrees, and none that does not")
  func closed() async {
    // The answers of the gates; `nil` is one that throws, an empty list is nobody.
    let cases: [(gates: [Bool?], isOpen: Bool)] = [
      ([], false), ([true], true), ([true, true], true), ([true, false], false), ([nil], false),
      ([true, nil], false),
    ]
    for (gates, isOpen) in cases {
      let (chat, _) = await chat()
      let bob = Listener()
      #expect(chat.enter(as: "bob", bob) == .done)
      chat.hub.unsubscribe(id: "yes")
      for gate in gates {
        chat.hub.subscribe(
          Guard(gate), toEachOf: JoinGate.self, SpeechGate.self, hold: .strongly)
      }
      let joined = await chat.join("tea", as: "bob")
      let said = await chat.say("hello", in: "tea", as: "ann")
      #expect((joined == .done) == isOpen, "\(gates)")
      #expect((said == .done) == isOpen, "\(gates)")
      await settle(chat)
      #expect(bob.heard == (isOpen ? ["* bob has joined tea", "tea ann: hello"] : []), "\(gates)")
    }
  }

  @Test("a gate that hangs says no at the deadline, and its unloading lets it go")
  func hanging() async {
    var limits = Self.patient
    limits.vote = .seconds(2)
    let (chat, ann) = await chat(limits)
    let shelf = Shelf(for: chat.hub)
    #expect(shelf.load("hanging"))
    #expect(
      await chat.say("anybody?", in: "tea", as: "ann")
        == .refused("that was not let through: a gate has not answered in time"))
    #expect(await shelf.unload("hanging")?.subscribers.map(\.running) == [1])
    while await chat.say("again", in: "tea", as: "ann") != .done {}
    await settle(chat)
    #expect(ann.heard == ["* ann has joined tea", "tea ann: again"])
    #expect(await shelf.unload("hanging") == nil)
    #expect(!shelf.load("no such"))
  }

  @Test("extensions are replaced while people talk, and there is no moment without one")
  func replacing() async {
    let (chat, _) = await chat()
    chat.hub.unsubscribe(id: "yes")
    let shelf = Shelf(for: chat.hub)
    #expect(shelf.load("moderator"))
    await withTaskGroup { group in
      group.addTask {
        for _ in 0..<200 { shelf.load("moderator") }
      }
      for number in 0..<200 {
        group.addTask {
          #expect(await chat.say("word \(number)", in: "tea", as: "ann") == .done)
          #expect(await chat.say("spam \(number)", in: "tea", as: "ann") != .done)
        }
      }
    }
  }

  @Test(
    "what is told is written before, whoever talks at once, and what cannot be written is not told")
  func audit() async throws {
    let (chat, ann) = await chat(isAudited: true)
    // Nobody writes anything down yet.
    #expect(await chat.say("too early", in: "tea", as: "ann") != .done)
    let file = try AuditFile(path)
    file.subscribe(to: chat.hub)
    await withTaskGroup { group in
      for number in 0..<100 {
        group.addTask { #expect(await chat.say("\(number)", in: "tea", as: "ann") == .done) }
      }
    }
    await settle(chat)
    let written = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    let told = ann.heard.dropFirst()
    #expect(told.count == 100)
    #expect(Set(written.map(String.init)) == Set(told))
    #expect(written.count == 100 && file.counts == (100, 0))
    // Several records: all of them have to write it.
    let full = try AuditFile("/dev/full")
    full.subscribe(to: chat.hub)
    #expect(
      await chat.say("lost", in: "tea", as: "ann") == .refused("it could not be written down"))
    await settle(chat)
    #expect(full.counts.failed == 1)
    #expect(!ann.heard.contains("tea ann: lost"))
    #expect(throws: (any Error).self) { try AuditFile("/no/such/folder") }
  }

  @Test("while the disk takes its time, the counts can be read, so that a server can stop")
  func hangingDisk() throws {
    // A pipe takes no more than it has room for until somebody reads.
    try #require(mkfifo(path, 0o600) == 0)
    let pipe = try FileHandle(forUpdating: URL(filePath: path))
    let file = try AuditFile(path)
    let size = 1 << 21
    Thread.detachNewThread { try? file.write(String(repeating: "x", count: size)) }
    #expect(try pipe.read(upToCount: 1)?.count == 1)
    #expect(file.counts == (0, 0))
    var rest = size
    while rest > 0 { rest -= try pipe.read(upToCount: rest)?.count ?? rest }
  }

  @Test("on a full disk a line is there as a whole or not at all, and what was there stays")
  func fullDisk() throws {
    // A file may have a gigabyte and a few bytes, which stands for the disk: nothing else that is written meanwhile has so
    // much. All but its end is a hole.
    let size = 1 << 30
    var limit = rlimit()
    guard
      FileManager.default.createFile(atPath: path, contents: nil), truncate(path, size) == 0,
      getrlimit(.init(RLIMIT_FSIZE.rawValue), &limit) == 0
    else { return }
    let file = try AuditFile(path)
    let handle = try FileHandle(forReadingFrom: URL(filePath: path))
    func written() throws -> String {
      try handle.seek(toOffset: UInt64(size))
      return String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    }
    try file.write("before")
    let former = limit
    let action = signal(SIGXFSZ, SIG_IGN)
    defer { signal(SIGXFSZ, action) }
    limit.rlim_cur = rlim_t(size + 20)
    #expect(setrlimit(.init(RLIMIT_FSIZE.rawValue), &limit) == 0)
    // Half of it would find a place.
    let error = #expect(throws: ChatError.self) {
      try file.write(String(repeating: "x", count: 40))
    }
    #expect(error?.description == "File too large")
    #expect(try written() == "before\n")
    try file.write("short")
    #expect(throws: ChatError.self) { try file.write("too long for it") }
    limit = former
    #expect(setrlimit(.init(RLIMIT_FSIZE.rawValue), &limit) == 0)
    try file.write(String(repeating: "y", count: 40))
    #expect(try written() == "before\nshort\n\(String(repeating: "y", count: 40))\n")
    #expect(file.counts == (3, 2))
  }

  @Test("a member that is slow loses the oldest lines, holds up nobody, and is given up")
  func slow() async {
    var limits = Self.patient
    (limits.mailbox, limits.hearing) = (3, .seconds(2))
    let (chat, ann) = await chat(limits)
    let gate = Gate()
    let bob = Listener(behind: gate)
    #expect(chat.enter(as: "bob", bob) == .done)
    #expect(chat.enter(as: "bob", ann) != .done)
    #expect(await chat.join("tea", as: "bob") == .done)
    for number in 0..<20 { #expect(await chat.say("\(number)", in: "tea", as: "ann") == .done) }
    await bob.hasGivenUp.pass()
    let room = chat.hubs[1].hub
    #expect(await room.drain(within: .zero).subscribers.map(\.running) == [1])
    gate.open()
    await settle(chat)
    #expect(ann.heard.count == 22)
    #expect(bob.heard.count < 20)
    let counts = room.statistics().counts
    #expect(counts.dropped + counts.cancelled + counts.handled == counts.addressed)
    await chat.exit(as: "bob")
    await chat.exit(as: "ann")
    #expect(chat.hubs.count == 1)
  }

  @Test("a member that is slower than the room is told how many lines are missing, in their place")
  func missing() async {
    var limits = Self.patient
    limits.mailbox = 3
    let (chat, _) = await chat(limits)
    let bob = Listener(behind: Gate())
    #expect(chat.enter(as: "bob", bob) == .done)
    #expect(await chat.join("tea", as: "bob") == .done)
    for number in 0..<20 { #expect(await chat.say("\(number)", in: "tea", as: "ann") == .done) }
    // Who leaves hears what is left, and of what is missing once.
    #expect(await chat.leave("tea", as: "bob") == .done)
    bob.gate?.open()
    await settle(chat)
    let lines = bob.heard
    #expect(lines.count { $0.hasSuffix("missing here in tea") } == 1)
    #expect(lines.suffix(3) == ["tea ann: 17", "tea ann: 18", "tea ann: 19"])
    #expect(lines.dropLast(3).last == "* \(21 - (lines.count - 1)) lines are missing here in tea")
  }

  @Test("who leaves hears what was said before, and a chat that stops refuses")
  func leaving() async {
    let (chat, ann) = await chat()
    #expect(await chat.say("bye", in: "tea", as: "ann") == .done)
    #expect(await chat.leave("tea", as: "ann") == .done)
    #expect(await chat.leave("tea", as: "ann") != .done)
    #expect(await chat.say("?", in: "tea", as: "ann") != .done)
    #expect(await chat.join("tea", as: "ann") == .done)
    chat.stop()
    #expect(await chat.say("?", in: "tea", as: "ann") == .refused("the server is stopping"))
    #expect(await chat.join("other", as: "ann") == .refused("the server is stopping"))
    await settle(chat)
    #expect(Array(ann.heard.prefix(2)) == ["* ann has joined tea", "tea ann: bye"])
  }
}

import Delegation
import Foundation
import Logging
import NIOCore
import Synchronization
import Testing

@testable import ChatServerKit

@Suite("What goes wrong in the chat server", .timeLimit(.minutes(10)))
struct FaultTests {
  private struct Bad: Error {}

  private final class Failing: ServerExtension, RoomObserver {
    let name = "failing"
    let options = ExtensionOptions()
    func didPost(_ message: Message) throws { throw Bad() }
  }

  private let message = Message(room: "tea", number: 1, sender: "ann", text: "hello")

  @Test("at most 20 lines a second, and how many there were more")
  func limit() {
    var limit = LineLimit()
    #expect(limit.add() == (true, true))
    for _ in 2...20 { #expect(limit.add() == (true, false)) }
    for _ in 1...5 { #expect(limit.add() == (false, false)) }
    #expect(limit.endSecond() == 5)
    #expect(limit.add() == (true, true))
    #expect(limit.endSecond() == 0)
  }

  @Test("noise of one kind hides nothing of another, such as somebody who guesses passwords")
  func kinds() {
    let log = LogBook()
    let faults = FaultLog(Logger(label: "test") { _ in log })
    for _ in 1...1000 { faults.report(.notice, "a client writes more lines than it may") }
    faults.report(.warning, "a log-in was refused", metadata: ["name": "root"])
    let noise = log.messages.filter { $0.hasPrefix("a client") }.count
    #expect((20..<1000).contains(noise))
    #expect(log.lines.filter { $0 == "a log-in was refused name=root" }.count == 1)
  }

  @Test("a reader of the log that stalls holds up nobody, and is told what it has missed")
  func stalled() throws {
    let pipe = Pipe()
    let stream = LogStream(pipe.fileHandleForWriting.fileDescriptor)
    // More than any pipe holds.
    for number in 1...100_000 { stream.write("line \(number) of a log that nobody reads\n") }
    let reader = pipe.fileHandleForReading
    // There is always something to read: the line that was written before, or what kept it out.
    var held = Data()
    while !held.contains(Data("begun\n".utf8)) {
      held += reader.availableData
      stream.write("begun\n")
    }
    stream.write(String(repeating: "\u{F6}", count: 10_000) + "\n")
    stream.write("last\n")
    try pipe.fileHandleForWriting.close()
    let rest = held + (try reader.readToEnd() ?? Data())
    let lines = String(decoding: rest, as: UTF8.self).split(separator: "\n")
    #expect(lines.contains { $0.hasSuffix("log lines were left out here: nobody took them") })
    #expect(lines.suffix(2).first?.hasSuffix("\u{F6}…") == true)
    #expect(lines.suffix(2).first.map { $0.utf8.count < LogStream.longest } == true)
    #expect(lines.last == "last")
  }

  @Test("what an observer throws is logged, but not each time", arguments: EngineKind.allCases)
  func failing(_ kind: EngineKind) async throws {
    var configuration = ServerConfiguration()
    configuration.engine = kind
    let log = LogBook()
    let faults = FaultLog(Logger(label: "test") { _ in log })
    let engine = ChatServer.makeEngine(configuration, faults: faults)
    let failing = Failing()
    await engine.add(failing)
    for _ in 1...1000 { engine.tell { [message] in try $0.didPost(message) } }
    while log.messages.last?.hasPrefix("and ") != true { await Task.yield() }
    let lines = log.messages.filter { $0.hasPrefix("a handler: failed") }.count
    #expect(lines >= 20)
    #expect(lines < 200, "it took some seconds, in each of which there are 20")
    if let accounts = await engine.accounts() { #expect(accounts.failed == 1000) }
  }

  @Test("an audit throws for each event that it cannot write, and counts it")
  func audit() throws {
    let losses = AuditLosses()
    let audit = try Audit(path: "/dev/full", losses: losses)
    #expect(throws: Refusal("cannot write /dev/full: No space left on device")) {
      try audit.didPost(message)
    }
    #expect(losses.count == 1)
    #expect(throws: Refusal.self) { try Audit(path: "/nowhere/audit") }
  }

  @Test(
    "an audit whose file is exchanged while events wait writes each of them once",
    arguments: EngineKind.allCases)
  func rotation(_ kind: EngineKind) async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "audit-\(UUID())").path
    let engine = Engines.make(kind)
    let audit = try Audit(path: path)
    let queue = try #require(audit.options.queue)
    // Another one would have a queue that is not suspended.
    let first = Mutex<Audit?>(audit)
    let shelf = ExtensionShelf(
      engine: engine,
      makers: [("audit", { try first.withLock { $0.take() } ?? Audit(path: path) })],
      logger: Logger(label: "test") { _ in LogBook() })
    try await shelf.load("audit", by: [:])
    var files: [String] = []
    defer { for file in files + [path] { unlink(file) } }
    for round in 0..<10 {
      // So that events wait, as they do for a slow disk.
      queue.suspend()
      for number in 1...100 {
        let message = Message(
          room: "tea", number: 100 * round + number, sender: "ann", text: "hello")
        engine.tell { try $0.didPost(message) }
      }
      files.append("\(path).\(round)")
      #expect(rename(path, files[round]) == 0)
      try await shelf.reload("audit", by: [:])
      queue.resume()
    }
    var texts: [String] = []
    // A hub says when all are told; of the others one sees it by the lines.
    let hubs = (engine as? HubEngine)?.hubs
    for hub in hubs ?? [] { #expect(await hub.drain().isEmpty) }
    repeat {
      await Task.yield()
      texts = try (files + [path]).map {
        FileManager.default.fileExists(atPath: $0)
          ? try String(contentsOfFile: $0, encoding: .utf8) : ""
      }
    } while texts.joined().utf8.count(where: { $0 == UInt8(ascii: "\n") }) < 1000
      && hubs == nil
    #expect(texts.joined() == (1...1000).map { "- posted tea \($0) ann: hello\n" }.joined())
    #expect(engine.missedEvents == 0)
  }

  @Test("an audit of a pipe that nobody reads is refused at once")
  func pipe() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "pipe-\(UUID())").path
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    #expect(throws: Refusal("cannot write \(path): nobody reads the pipe")) {
      try Audit(path: path)
    }
  }

  /// An extension for which one event may wait, and that does not come back from its first.
  private final class Stuck: ServerExtension, RoomObserver {
    let name = "stuck"
    let options = ExtensionOptions(queue: DispatchQueue(label: "stuck"), backlog: 1)
    let isCalled = DispatchSemaphore(value: 0)
    let mayGo = DispatchSemaphore(value: 0)
    func didPost(_ message: Message) throws {
      isCalled.signal()
      mayGo.wait()
    }
  }

  @Test(
    "what a limited extension has missed is counted: dropped, waiting, being handled, cancelled")
  func missed() async throws {
    let engine = try #require(Engines.make(.hub) as? HubEngine)
    let stuck = Stuck()
    engine.add(stuck)
    engine.tell { [message] in try $0.didPost(message) }
    await onThread { stuck.isCalled.wait() }
    for _ in 1...5 { engine.tell { [message] in try $0.didPost(message) } }
    #expect(await engine.accounts()?.dropped == 4)
    #expect(engine.missedEvents == 6)
    #expect(await engine.accounts()?.description.hasSuffix("waiting 2: NOT all told") == true)
    engine.remove(stuck)
    #expect(engine.missedEvents == 6, "those that were not told before it was removed")
    stuck.mayGo.signal()
    for hub in engine.hubs { await hub.drain() }
    #expect(engine.missedEvents == 5)
  }

  /// Does what blocks off the threads that all share.
  private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        body()
        continuation.resume()
      }
    }
  }

  @Test("a client's time is up if it does not log in, or writes nothing afterwards")
  func idleness() {
    let start = NIODeadline.uptimeNanoseconds(1)
    var limit = IdleLimit(at: start, logInTime: .seconds(30), idleTime: .seconds(600))
    limit.hear(at: start + .seconds(20))
    #expect(limit.deadline == start + .seconds(30), "what it writes is no log-in")
    #expect(limit.reason == "you have not logged in")
    limit.logIn(at: start + .seconds(25))
    #expect(limit.deadline == start + .seconds(625))
    limit.hear(at: start + .seconds(100))
    #expect(limit.deadline == start + .seconds(700))
    #expect(limit.reason == "you have been idle too long")
  }
}

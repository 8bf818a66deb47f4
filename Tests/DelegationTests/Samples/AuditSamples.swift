import Delegation
import DelegationTesting
import Testing

// sample: Audit
protocol Audit: AnyObject, Sendable {
  func record(_ entry: String) async throws
}

final class AuditLog: Audit {
  private let file: any AuditFile

  init(to file: any AuditFile) { self.file = file }

  func record(_ entry: String) async throws {
    // The next entry waits behind this one, and so does the poster.
    for attempt in 1... {
      do {
        return try await file.append(entry)
      } catch is AuditFull where attempt < 5 {
        try await file.waitForRoom()
      }
    }
  }
}

struct Bank: Sendable {
  private let audits = Delegates<any Audit>()
  var registry: DelegateRegistry<any Audit> { audits.registry }

  /// Refuses what is not written; without `within:` an audit that hangs holds it for ever.
  func book(_ entry: String) async throws {
    let outcome = await audits.notifyAndWait { try await $0.record(entry) }
    guard outcome.isHandled else { throw NotWritten(entry: entry, outcome: outcome) }
  }

  /// Callers go as fast as the audits write, or hang with them.
  func note(_ entry: String) async throws {
    let outcome = await audits.notifyAndWait(leaving: 30) { try await $0.record(entry) }
    // It may still wait. It is lost for an audit that has failed or missed it by now, and for good if nobody is there.
    let isLost = outcome.addressed == 0 || outcome.failed + outcome.missed > 0
    if isLost { throw NotWritten(entry: entry, outcome: outcome) }
  }

  /// Returns what is left after five seconds, and not what has failed: `onIncident` hears that.
  func close() async -> DelegateHub.Leftovers {
    audits.finish()
    return await audits.hub.drain(within: .seconds(5))
  }
}

struct NotWritten: Error {
  let entry: String
  let outcome: DelegateHub.Outcome
}
// end of sample

protocol AuditFile: Sendable {
  func append(_ entry: String) async throws
  func waitForRoom() async throws
}

struct AuditFull: Error {}

private final class TestFile: AuditFile {
  let lines: Recorder<String>
  private let tries = Count()
  private let failsAtEach: Int?

  init(to lines: Recorder<String>, failingAtEach count: Int?) {
    self.lines = lines
    failsAtEach = count
  }

  func append(_ entry: String) async throws {
    tries.add(1)
    await Task.yield()
    if let failsAtEach, tries.value % failsAtEach == 0 { throw AuditFull() }
    lines.record(entry)
  }

  func waitForRoom() async throws { await Task.yield() }
}

/// Is full until there is room.
private struct FullFile: AuditFile {
  let full: Gate
  let room: Gate
  let lines: Recorder<String>

  func append(_ entry: String) async throws {
    if room.arrived == 0 { throw AuditFull() }
    lines.record(entry)
  }

  func waitForRoom() async throws {
    full.arrive()
    await room.pass()
  }
}

@Suite("Sample: a subscriber that must not lose anything", .inTurn)
struct AuditSampleTests {
  @Test("an audit that retries and is rotated under load has each entry once, in order")
  func rotated() async throws {
    let bank = Bank()
    let lines = Recorder<String>()
    func makeLog() -> AuditLog { AuditLog(to: TestFile(to: lines, failingAtEach: 7)) }
    bank.registry.subscribe(makeLog(), id: "audit", hold: .strongly)
    let (producers, entries) = (8, Effort.count(60))
    let (isOver, rotations) = (Gate(), Count())
    let rotating = Task {
      while isOver.arrived == 0 {
        bank.registry.subscribe(makeLog(), id: "audit", hold: .strongly)
        rotations.add(1)
        await Task.yield()
      }
    }
    while rotations.value == 0 { await Task.yield() }
    try await withThrowingTaskGroup { group in
      for producer in 0..<producers {
        group.addTask {
          for number in 0..<entries {
            let entry = "\(producer): \(number)"
            if number % 3 == 0 { try await bank.book(entry) } else { try await bank.note(entry) }
            // The poster knows what was written: its own entries are, once one is booked.
            if number % 3 == 0 { #expect(lines.events.contains(entry)) }
          }
        }
      }
      try await group.waitForAll()
    }
    isOver.arrive()
    await rotating.value
    #expect(await bank.close().isEmpty)
    let written = lines.events
    #expect(written.count == producers * entries && Set(written).count == written.count)
    for producer in 0..<producers {
      let own = written.filter { $0.hasPrefix("\(producer): ") }
      #expect(own == (0..<entries).map { "\(producer): \($0)" })
    }
  }

  @Test("an audit that is replaced amid a retry writes that entry first")
  func replacedAmidRetry() async throws {
    let (bank, lines, full, room) = (Bank(), Recorder<String>(), Gate(), Gate())
    bank.registry.subscribe(
      AuditLog(to: FullFile(full: full, room: room, lines: lines)), id: "audit", hold: .strongly)
    async let first: Void = bank.book("1")
    await full.arrivals()
    let newer = AuditLog(to: TestFile(to: lines, failingAtEach: nil))
    bank.registry.subscribe(newer, id: "audit")
    async let rest: Void = bank.note("2")
    try await bank.note("3")
    #expect(lines.events == [])
    room.open()
    _ = try await (first, rest)
    #expect(await bank.close().isEmpty)
    #expect(lines.events.first == "1" && Set(lines.events) == ["1", "2", "3"])
    withExtendedLifetime(newer) {}
  }

  @Test("without a rotation the order of posting is kept, and a file that stays full is told")
  func orderAndFailure() async throws {
    let bank = Bank()
    await #expect(throws: NotWritten.self) { try await bank.book("nobody is there") }
    await #expect(throws: NotWritten.self) { try await bank.note("nobody is there") }
    let lines = Recorder<String>()
    let log = AuditLog(to: TestFile(to: lines, failingAtEach: 3))
    let token = bank.registry.subscribe(log)
    let notes = (0..<40).map { "\($0)" }
    for note in notes { try await bank.note(note) }
    try await bank.book("last")
    #expect(lines.events == notes + ["last"])
    token.cancel()
    let full = AuditLog(to: TestFile(to: lines, failingAtEach: 1))
    bank.registry.subscribe(full)
    let error = await #expect(throws: NotWritten.self) { try await bank.book("full") }
    #expect(error?.outcome.failed == 1 && error?.entry == "full")
    #expect(await bank.close().isEmpty)
    withExtendedLifetime((log, full)) {}
  }
}

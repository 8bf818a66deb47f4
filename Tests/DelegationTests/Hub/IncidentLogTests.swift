import Testing

@testable import Delegation

@Suite("Incidents on standard error", .inTurn)
struct IncidentLogTests {
  private let start = ContinuousClock.now

  /// A number of milliseconds after the first incident.
  private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
    start + .milliseconds(milliseconds)
  }

  @Test("there are 20 lines a second, and the rest is counted until the second is over")
  func twentyASecond() {
    var log = IncidentLog()
    for number in 0..<20 {
      let step = log.add(1, at: at(40 * number))
      #expect(step == .write)
    }
    var steps = [log.add(1, at: at(800))]
    // It stands for the ten that were left out before it came here.
    steps.append(log.add(11, at: at(900)))
    #expect(steps == [.leaveOutUntil(at(1000)), .leaveOut])
    var counts = [log.takeLeftOut()]
    counts.append(log.takeLeftOut())
    #expect(counts == [12, 0])
  }

  @Test("a second begins with its first line")
  func seconds() {
    var log = IncidentLog()
    var steps = (0..<21).map { _ in log.add(1, at: at(0)) }
    #expect(steps.last == .leaveOutUntil(at(1000)))
    // The clock is late: what is counted until then is in its line.
    steps = (0..<21).map { _ in log.add(1, at: at(1500)) }
    #expect(steps.dropLast() == Array(repeating: .write, count: 20)[...])
    #expect(steps.last == .leaveOut)
    #expect(log.takeLeftOut() == 2)
    let next = log.add(1, at: at(2499))
    let new = log.add(1, at: at(2500))
    #expect([next, new] == [.leaveOutUntil(at(2500)), .write])
  }

  @Test("by default an incident is one line on standard error, and those beyond 20 one more")
  func standardErrorByDefault() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let hub = DelegateHub()
      let probe = Probe()
      let reported = Gate()
      StandardError.passOn { if $0.contains("more incidents") { reported.open() } }
      hub.subscribe(probe, to: Listener.self, fileID: "Door.swift", line: 3)
      for number in 0..<1000 {
        hub.notify(Listener.self) { _ in throw Refusal(reason: "\(number)") }
        // No more wait than the hub keeps.
        if number % 100 == 99 { await hub.drain() }
      }
      // In the line at the end of the second, by the real clock.
      await reported.pass()
      withExtendedLifetime(probe) {}
    }
    let lines = standardError(of: result).split(separator: "\n")
    #expect(lines.first?.hasSuffix("failed in notify: Refusal(reason: \"0\")") == true)
    // On a busy machine the handlers take longer than a second.
    #expect(lines.count > 20)
    #expect(lines.prefix(20).allSatisfy { $0.hasPrefix("DelegateHub: DelegationTests.Probe") })
    #expect(lines.contains { $0.hasPrefix("DelegateHub: and ") && $0.hasSuffix(" more incidents") })
  }
}

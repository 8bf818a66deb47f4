import Testing

@testable import Delegation

@Suite("Incidents on standard error", .inTurn)
struct IncidentLogTests {
  @Test("there are 20 lines a second, and the rest is counted until the second is over")
  func twentyASecond() {
    var log = IncidentLog()
    for second in 0..<2 {
      for number in 0..<20 {
        let (isWritten, beginsSecond) = log.add(1)
        #expect(isWritten, "\(second)")
        #expect(beginsSecond == (number == 0))
      }
      // The last one stands for the ten that were left out before it came here.
      for count in [1, 11] {
        let (isWritten, beginsSecond) = log.add(count)
        #expect(!isWritten && !beginsSecond)
      }
      let leftOut = log.endSecond()
      #expect(leftOut == 12)
    }
  }

  @Test("a second with few lines leaves nothing out")
  func few() {
    var log = IncidentLog()
    _ = log.add(5)
    let leftOut = log.endSecond()
    #expect(leftOut == 0)
    let next = log.add(1)
    #expect(next == (true, true))
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

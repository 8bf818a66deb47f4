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
        hub[Listener.self].notify() { _ in throw Refusal(reason: "\(number)") }
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

  @Test("a second with few lines ends without a word, and each has its own count of all the others")
  func secondBySecond() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let (probe, told) = (Probe(), Recorder<DelegateHub.Incident>())
      let hub = DelegateHub { $0.onIncident = { told.record($0) } }
      hub.subscribe(probe, to: Listener.self)
      hub[Listener.self].notify() { _ in throw Refusal() }
      let plain = await told.history(of: 1)[0]
      var withNineMore = plain
      withNineMore.leftOut = 9
      let lines = Recorder<Substring>()
      StandardError.passOn { all in
        let counts = all.split(separator: "\n").filter { $0.hasSuffix("more incidents") }
        for line in counts.dropFirst(lines.history.count) { lines.record(line) }
      }
      /// Writes one more than there is room for, and gives the line at the end of the second.
      func write(_ last: DelegateHub.Incident) async -> Substring? {
        let count = lines.history.count
        for _ in 0..<20 { plain.writeToStandardError() }
        last.writeToStandardError()
        return await lines.history(of: count + 1).last
      }
      // By the real clock, by which the log goes: again if the machine is too busy to end a second in two.
      var pause = 1
      repeat {
        plain.writeToStandardError()
        pause *= 2
        try? await Task.sleep(for: .seconds(pause))
      } while await write(plain) != "DelegateHub: and 1 more incidents" && pause < 64
      #expect(await write(withNineMore) == "DelegateHub: and 10 more incidents")
      withExtendedLifetime(probe) {}
    }
    #expect(said(result, "DelegateHub: and 1 more incidents\n"))
    #expect(!said(result, "DelegateHub: and 0 more incidents\n"))
  }
}

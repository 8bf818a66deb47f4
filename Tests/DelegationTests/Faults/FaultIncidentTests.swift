import Dispatch
import Testing

@testable import Delegation

/// The rows of the documentation's table of faults that are about incidents, by their names there.
@Suite("Faults: what would otherwise go wrong unheard", .inTurn)
struct FaultIncidentTests {
  /// Its own threads: one that the hook blocks, and others.
  private static let pool = ThreadPool(threads: 3)

  @Test("The closure of onIncident blocks")
  func hookBlocks() async {
    let (begun, semaphore) = (Gate(), DispatchSemaphore(value: 0))
    let told = Recorder<String>()
    let hub = DelegateHub(
      .init(
        executor: Self.pool,
        onIncident: { incident in
          told.record(incident.reason)
          begun.arrive()
          semaphore.wait()
        }))
    let (faulty, sound) = (Probe("faulty"), Probe("sound"))
    hub.subscribe(faulty, to: Listener.self)
    hub.subscribe(sound, to: Listener.self)
    let check: @Sendable (any Listener, String) throws -> Void = { probe, reason in
      if probe.name == "faulty" { throw Refusal(reason: reason) }
    }
    await hub[Listener.self].notifyAndWait() { try check($0, "first") }
    await begun.arrivals()
    // It stands still, and everything else goes on.
    let isAllowed = await hub[Listener.self].vote(absent: .abstains) {
      try check($0, "second")
      return true
    }
    #expect(isAllowed)
    await hub[Listener.self].notifyAndWait() { try check($0, "third") }
    for number in 0..<10 { hub[Listener.self].notify() { $0.log.record(number) } }
    for probe in [faulty, sound] {
      #expect(await probe.log.history(of: 10) == Array(0..<10))
    }
    #expect(told.history == ["first"])
    for _ in 0..<3 { semaphore.signal() }
    #expect(await hub.drain().isEmpty)
    #expect(told.history == ["first", "second", "third"])
  }

  @Test("Nobody keeps a subscriber")
  func nobodyKeepsIt() async {
    let told = Recorder<String>()
    let hub = DelegateHub(
      .init(onIncident: { told.record("\($0.kind) in \($0.call) at \($0.site)") }))
    hub.subscribe(Probe("bouncer"), to: Listener.self, fileID: "Door.swift", line: 7)
    hub.subscribe(Probe("cook"), to: Bystander.self, fileID: "Kitchen.swift", line: 8)
    #expect(await hub[Listener.self].vote() { _ in false }, "it lets everybody in")
    #expect(await !hub[Listener.self].vote(by: .unanimous(ofAtLeast: 1)) { _ in true })
    for _ in 0..<3 { hub[Bystander.self].notify() { _ in } }
    await hub.drain()
    #expect(
      told.history == ["unheard in vote at Door.swift:7", "unheard in notify at Kitchen.swift:8"])
    // What is posted after the first one has found it dead is posted to nobody.
    #expect(await (1...3).contains(hub.accounts().expired))
  }

  @Test("A subscriber is late")
  func subscriberIsLate() async {
    let (clock, gate, told) = (ManualClock(), Gate(), Recorder<String>())
    let hub = DelegateHub(
      .init(clock: clock, onIncident: { told.record("\($0.kind) in \($0.call) at \($0.site)") }))
    let probes = Probe.many(3)
    for (line, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, fileID: "site", line: UInt(line))
    }
    async let outcome = hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)
    ) { probe in
      if probe.name != "1" { await gate.pass() }
      return true
    }
    await gate.arrivals(2)
    _ = await clock.alarms()
    clock.advance(by: .seconds(1))
    #expect(await !outcome)
    #expect(await told.history(of: 2) == ["late in vote at site:0", "late in vote at site:2"])
    let questions = await hub.statistics().protocols.first?.subscribers.map(\.questions.late)
    #expect(questions == [1, 0, 1])
    gate.open()
    await hub.drain()
    #expect(told.history.count == 2)
    withExtendedLifetime(probes) {}
  }
}

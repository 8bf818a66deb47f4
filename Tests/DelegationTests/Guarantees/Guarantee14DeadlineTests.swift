import Testing

@testable import Delegation

@Suite("Guarantee 14: drain, within a time", .inTurn)
struct Guarantee14DeadlineTests {
  private let clock = ManualClock()
  private let hub: DelegateHub
  private let gate = Gate()
  private let probes = Probe.many(3)

  init() {
    var configuration = DelegateHub.Configuration()
    configuration.clock = clock
    hub = DelegateHub(configuration)
    for probe in probes { hub.subscribe(probe, to: Listener.self, id: "id \(probe.name)") }
  }

  /// Makes one subscriber hang with two more notifications behind it.
  private func hang() async {
    let gate = gate
    hub[Listener.self].notify() { if $0.name == "1" { await gate.pass() } }
    for number in 0..<2 { hub[Listener.self].notify() { $0.log.record(number) } }
    await gate.arrivals()
    // The others' last handlers have recorded, but may not have returned.
    while await hub.drain(within: .zero).subscribers.count > 1 { await Task.yield() }
  }

  @Test("at its deadline it returns with who is left and what waits for them")
  func leftovers() async throws {
    await hang()
    async let drained = hub.drain(within: .seconds(5))
    #expect(await clock.alarms() == [.seconds(5)])
    clock.advance(by: .seconds(5))
    let left = await drained
    #expect(!left.isEmpty)
    let hanging = left.subscribers.filter { $0.subscriber.contains("id 1") }
    let hung = try #require(hanging.first)
    #expect(hanging.count == 1)
    #expect(hung.subscriber.contains("Probe"))
    #expect(hung.site.contains("Guarantee14DeadlineTests.swift:"))
    #expect(hung.running == 1)
    #expect(hung.waiting == 2)
    #expect(left.description.contains("id 1"))
    gate.open()
    #expect(await hub.drain().isEmpty)
    #expect(probes[1].log.history == [0, 1])
  }

  @Test("if all comes to rest in time it returns at once, and the alarm is turned off")
  func inTime() async {
    await hang()
    async let drained = hub.drain(within: .seconds(5))
    _ = await clock.alarms()
    gate.open()
    let left = await drained
    #expect(left.isEmpty)
    #expect(left.description == "nothing left")
    #expect(hub.deadlines.pending == 0)
    #expect(probes.map(\.log.history) == [[0, 1], [0, 1], [0, 1]])
  }

  @Test("with no time at all it tells what is left")
  func noTime() async {
    #expect(await hub.drain(within: .zero).isEmpty)
    await hang()
    // Often: the time is up while the wait is being arranged.
    for _ in rounds(300) {
      #expect(await hub.drain(within: .zero).subscribers.count == 1)
    }
    gate.open()
    #expect(await hub.drain().isEmpty)
  }

  @Test("when its caller is cancelled it returns with what is left")
  func cancelled() async {
    await hang()
    for _ in rounds(50) {
      for duration in [nil, Duration.seconds(5)] {
        let drain = Task { await hub.drain(within: duration) }
        drain.cancel()
        #expect(await drain.value.subscribers.count == 1)
      }
    }
    gate.open()
    #expect(await hub.drain().isEmpty)
  }

  @Test("a negative time counts as zero")
  func negative() async {
    let hub = DelegateHub()
    #expect(await hub.drain(within: .seconds(-1)).isEmpty)
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let gate = Gate()
    hub[Listener.self].notify() { _ in await gate.pass() }
    #expect(await hub.drain(within: .seconds(-1)).subscribers.count == 1)
    gate.open()
    #expect(await hub.drain().isEmpty)
    withExtendedLifetime(probe) {}
  }
}

import Dispatch
import Testing

@testable import Delegation

@Suite("Guarantee 6: apart", .inTurn)
struct Guarantee06ApartTests {
  private struct Failure: Error {}

  @Test(
    "a suspended subscriber delays no other, wherever it stands, and not the poster",
    arguments: [0, 5, 9])
  func suspended(place: Int) async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { if $0.name == "\(place)" { await gate.pass() } }
    for number in 0..<100 { hub[Listener.self].notify() { $0.log.record(number) } }
    for (number, probe) in probes.enumerated() where number != place {
      #expect(await probe.log.history(of: 100) == Array(0..<100))
    }
    await gate.arrivals()
    #expect(probes[place].log.history == [])
    gate.open()
    await hub.drain()
    #expect(probes[place].log.history == Array(0..<100))
  }

  @Test("when all but one are suspended, that one is served")
  func allButOne() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probes = Probe.many(200)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { if $0.name != "100" { await gate.pass() } }
    await gate.arrivals(199)
    for number in 0..<10 { hub[Listener.self].notify() { $0.log.record(number) } }
    #expect(await probes[100].log.history(of: 10) == Array(0..<10))
    gate.open()
    await hub.drain()
    for probe in probes { #expect(probe.log.history == Array(0..<10)) }
  }

  @Test("a throwing subscriber delays no other, and hears what comes next", arguments: [0, 5, 9])
  func throwing(place: Int) async {
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { _ in }
    let hub = DelegateHub(configuration)
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    for number in 0..<10 {
      hub[Listener.self].notify() { probe in
        if probe.name == "\(place)", number % 2 == 0 { throw Failure() }
        probe.log.record(number)
      }
      hub[Listener.self].notify() { probe in
        if probe.name == "\(place)" {
          await Task.yield()
          throw Failure()
        }
      }
    }
    await hub.drain()
    for (number, probe) in probes.enumerated() {
      #expect(probe.log.history == (number == place ? [1, 3, 5, 7, 9] : Array(0..<10)))
    }
  }

  @Test("a subscriber that blocks its thread takes that thread and no more", arguments: [0, 5, 9])
  func blocking(place: Int) async {
    let hub = DelegateHub(on: ThreadPool(threads: 2))
    let semaphore = DispatchSemaphore(value: 0)
    let gate = Gate()
    let probes = Probe.many(10)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { probe in
      guard probe.name == "\(place)" else { return }
      gate.arrive()
      semaphore.wait()
    }
    await gate.arrivals()
    for number in 0..<100 {
      if number % 2 == 0 {
        hub[Listener.self].notify() { $0.log.record(number) }
      } else {
        hub[Listener.self].notify() { probe in
          await Task.yield()
          probe.log.record(number)
        }
      }
    }
    for (number, probe) in probes.enumerated() where number != place {
      #expect(await probe.log.history(of: 100) == Array(0..<100))
    }
    #expect(probes[place].log.history == [])
    semaphore.signal()
    await hub.drain()
    #expect(probes[place].log.history == Array(0..<100))
  }

  @Test("a blocked subscriber holds up neither a vote among others nor another protocol")
  func blockingAndAsking() async {
    let hub = DelegateHub(on: ThreadPool(threads: 2))
    let semaphore = DispatchSemaphore(value: 0)
    let gate = Gate()
    let (blocked, free) = (Probe("blocked"), Probe("free"))
    hub.subscribe(blocked, to: Listener.self)
    hub.subscribe(free, to: Listener.self)
    hub.subscribe(free, to: Bystander.self)
    hub[Listener.self].notify() { probe in
      guard probe.name == "blocked" else { return }
      gate.arrive()
      semaphore.wait()
    }
    await gate.arrivals()
    #expect(await hub[Bystander.self].ask(combining: .all()) { $0.name } == ["free"])
    hub[Bystander.self].notify() { $0.log.record(1) }
    #expect(await free.log.history(of: 1) == [1])
    semaphore.signal()
    await hub.drain()
  }

  @Test("a poster is not held up though every thread of the hub is taken")
  func everyThreadTaken() async {
    let hub = DelegateHub(on: ThreadPool(threads: 1))
    let semaphore = DispatchSemaphore(value: 0)
    let gate = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in
      gate.arrive()
      semaphore.wait()
    }
    await gate.arrivals()
    for number in 0..<100 { hub[Listener.self].notify() { $0.log.record(number) } }
    hub.subscribe(Probe(), to: Listener.self).cancel()
    #expect(probe.log.history == [])
    semaphore.signal()
    await hub.drain()
    #expect(probe.log.history == Array(0..<100))
  }

  @Test("one that posts to itself without end starves nobody, though there is a single thread")
  func flood() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let end = 10_000
    let reached = Recorder<(event: String, at: Int)>()
    let (flooded, other) = (Probe("flooded"), Probe("other"))
    hub.subscribe(flooded, to: Listener.self, priority: 1)
    hub.subscribe(other, to: Listener.self)
    hub.subscribe(other, to: Bystander.self)
    @Sendable func post(_ number: Int) {
      hub[Listener.self].notify() { probe in
        probe.log.record(number)
        guard probe.name == "flooded", number < end else { return }
        post(number + 1)
        guard number == 100 else { return }
        hub[Bystander.self].notify() { _ in
          reached.record(("told", flooded.log.history.count))
        }
        Task(executorPreference: executor) {
          _ = await hub[Bystander.self].vote() { _ in
            reached.record(("asked", flooded.log.history.count))
            return true
          }
        }
      }
    }
    post(1)
    executor.run()
    #expect(flooded.log.history == Array(1...end))
    #expect(other.log.history == Array(1...end))
    #expect(Set(reached.history.map(\.event)) == ["told", "asked"])
    for (event, count) in reached.history { #expect(count < end, "\(event) after the flood") }
  }

  @Test("a subscriber that hangs in one protocol is served in another")
  func perProtocol() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub.subscribe(probe, to: Bystander.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    hub[Bystander.self].notify() { $0.log.record(1) }
    #expect(await probe.log.history(of: 1) == [1])
    gate.open()
    await hub.drain()
  }
}

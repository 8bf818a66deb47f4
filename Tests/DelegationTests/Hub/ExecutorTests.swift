import Dispatch
import Testing

@testable import Delegation

@Suite("Executors", .inTurn)
struct ExecutorTests {
  /// Calls three subscribers of whom "1" has an executor of its own, and gives the queues on which
  /// their handlers ran, before and after suspending.
  private func queues(
    of reach: Reach, hub: String?, own: String?
  ) async -> [String: [String]] {
    var configuration = DelegateHub.Configuration()
    configuration.executor = hub.map { DispatchQueueExecutor(MarkedQueue.make($0)) }
    let executor = own.map { DispatchQueueExecutor(MarkedQueue.make($0)) }
    let hub = DelegateHub(configuration)
    let probes = Probe.many(3)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "1" ? executor : nil)
    }
    let places = Recorder<(name: String, queue: String)>()
    await reach(hub) { places.record(($0.name, MarkedQueue.current)) }
    await hub.drain()
    return Dictionary(grouping: places.history, by: \.name).mapValues { $0.map(\.queue) }
  }

  private func twice(_ queue: String, _ reach: Reach) -> [String] {
    Array(repeating: queue, count: reach.isAsynchronous ? 2 : 1)
  }

  @Test("handlers run on the hub's executor", arguments: Reach.allCases)
  func ofTheHub(reach: Reach) async {
    let queues = await queues(of: reach, hub: "hub", own: nil)
    let expected = twice("hub", reach)
    #expect(queues == ["0": expected, "1": expected, "2": expected])
  }

  @Test(
    "so do those of one that is alone, also when it is called again", arguments: Reach.allCases)
  func alone(reach: Reach) async {
    let hub = DelegateHub(on: DispatchQueueExecutor(MarkedQueue.make("hub")))
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let places = Recorder<String>()
    for _ in 0..<2 {
      await reach(hub, suspending: false) { _ in places.record(MarkedQueue.current) }
    }
    #expect(places.history == ["hub", "hub"])
    withExtendedLifetime(probe) {}
  }

  @Test("a subscription's own executor runs its handlers, and no others", arguments: Reach.allCases)
  func ofTheSubscription(reach: Reach) async {
    let queues = await queues(of: reach, hub: nil, own: "own")
    let elsewhere = twice("elsewhere", reach)
    #expect(queues == ["0": elsewhere, "1": twice("own", reach), "2": elsewhere])
  }

  @Test("a subscription's own executor takes precedence over the hub's", arguments: Reach.allCases)
  func both(reach: Reach) async {
    let queues = await queues(of: reach, hub: "hub", own: "own")
    let hub = twice("hub", reach)
    #expect(queues == ["0": hub, "1": twice("own", reach), "2": hub])
  }

  @Test("the caller goes on where it was", arguments: Reach.allCases)
  func caller(reach: Reach) async {
    var configuration = DelegateHub.Configuration()
    configuration.executor = DispatchQueueExecutor(MarkedQueue.make("hub"))
    let hub = DelegateHub(configuration)
    let own = DispatchQueueExecutor(MarkedQueue.make("own"))
    let probes = Probe.many(2)
    hub.subscribe(probes[0], to: Listener.self)
    hub.subscribe(probes[1], to: Listener.self, on: own)
    await reach(hub) { _ in }
    #expect(MarkedQueue.current == "elsewhere")
    let callers = DispatchQueueExecutor(MarkedQueue.make("caller's"))
    let place = await Task(executorPreference: callers) {
      await reach(hub) { _ in }
      return MarkedQueue.current
    }.value
    #expect(place == "caller's")
    withExtendedLifetime(probes) {}
  }

  @Test("a call comes from elsewhere only if its task prefers an executor that is not the hub's")
  func elsewhere() async {
    let hubs = DispatchQueueExecutor(MarkedQueue.make("hub"))
    let other = DispatchQueueExecutor(MarkedQueue.make("other"))
    let hub = DelegateHub(.init(executor: hubs))
    let callers: [(prefers: (any TaskExecutor)?, isElsewhere: Bool)] = [
      (nil, false), (globalConcurrentExecutor, false), (hubs, false), (hubs.tasks, false),
      (other, true), (other.tasks, true),
    ]
    for (executor, isElsewhere) in callers {
      let answer = await Task(executorPreference: executor) { hub.isCalledOnOtherExecutor }.value
      #expect(answer == isElsewhere)
    }
  }

  @Test("subscribing again changes the executor; one that is not named stays")
  func changing() {
    let stage = Stage()
    let (first, second) = (ManualExecutor(), ManualExecutor())
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, on: first)
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()
    #expect(probe.log.history == [])
    first.run()
    #expect(probe.log.history == [1])
    stage.hub.subscribe(probe, to: Listener.self, on: second)
    stage.hub[Listener.self].notify() { $0.log.record(2) }
    stage.run()
    first.run()
    #expect(probe.log.history == [1])
    second.run()
    #expect(probe.log.history == [1, 2])
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { $0.log.record(3) }
    stage.run()
    #expect(probe.log.history == [1, 2])
    second.run()
    #expect(probe.log.history == [1, 2, 3])
  }

  @Test("one whose own executor stands still holds up nobody else")
  func standingStill() {
    let stage = Stage()
    let still = ManualExecutor()
    let probes = Probe.many(10)
    for (number, probe) in probes.enumerated() {
      stage.hub.subscribe(probe, to: Listener.self, on: number == 4 ? still : nil)
    }
    for number in 0..<100 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    let ask = stage.start { hub in
      await hub[Listener.self].ask(combining: .all()) { probe in
        probe.log.record(100)
        return probe.name
      }
    }
    let vote = stage.start { hub in
      await hub[Listener.self].vote(by: .atLeast(9)) { _ in true }
    }
    stage.run()
    for (number, probe) in probes.enumerated() {
      #expect(probe.log.history == (number == 4 ? [] : Array(0...100)))
    }
    #expect(vote.result == true)
    #expect(ask.result == nil)
    while still.pending > 0 {
      still.run()
      stage.run()
    }
    #expect(ask.result == probes.map(\.name))
    #expect(probes[4].log.history.sorted() == Array(0...100))
    #expect(probes[4].log.history.filter { $0 < 100 } == Array(0..<100))
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("one that blocks its own queue holds up nobody else")
  func blockedQueue() async {
    let hub = DelegateHub()
    let queue = MarkedQueue.make("blocked")
    let semaphore = DispatchSemaphore(value: 0)
    let blocked = Gate()
    let probes = Probe.many(5)
    for probe in probes {
      let executor = probe.name == "2" ? DispatchQueueExecutor(queue) : nil
      hub.subscribe(probe, to: Listener.self, on: executor)
    }
    hub[Listener.self].notify() { probe in
      guard probe.name == "2" else { return }
      blocked.arrive()
      semaphore.wait()
    }
    await blocked.arrivals()
    for number in 0..<50 { hub[Listener.self].notify() { $0.log.record(number) } }
    for probe in probes where probe.name != "2" {
      #expect(await probe.log.history(of: 50) == Array(0..<50))
    }
    #expect(await hub[Listener.self].vote(by: .anyone) { $0.name != "2" })
    #expect(probes[2].log.history == [])
    semaphore.signal()
    #expect(await hub.drain().isEmpty)
    #expect(probes[2].log.history == Array(0..<50))
  }

  @Test("on an executor of its own each handles one notification at a time, in order")
  func order() async {
    let hub = DelegateHub()
    let queue = DispatchQueueExecutor(DispatchQueue(label: "wide", attributes: .concurrent))
    let probes = Probe.many(8)
    for (number, probe) in probes.enumerated() {
      hub.subscribe(probe, to: Listener.self, on: number % 2 == 0 ? queue : nil)
    }
    for number in 0..<200 {
      if number % 3 == 0 {
        hub[Listener.self].notify() { $0.log.record(number) }
      } else {
        hub[Listener.self].notify() { probe in
          await Task.yield()
          probe.log.record(number)
        }
      }
    }
    await hub.drain()
    for probe in probes { #expect(probe.log.history == Array(0..<200)) }
  }
}

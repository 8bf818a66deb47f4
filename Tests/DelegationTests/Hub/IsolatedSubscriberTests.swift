import Dispatch
import Testing

@testable import Delegation

/// What subscribers that live on an actor are told and asked.
protocol Resident: AnyObject, Sendable {
  func isWelcome(_ guest: Int) async -> Bool
  func didArrive(_ guest: Int) async
}

@Suite("Subscribers that live on an actor", .inTurn)
struct IsolatedSubscriberTests {
  @MainActor
  private final class Panel: Resident {
    private(set) var guests: [Int] = []

    func isWelcome(_ guest: Int) -> Bool {
      MainActor.preconditionIsolated()
      return guest != 13
    }

    func didArrive(_ guest: Int) {
      MainActor.preconditionIsolated()
      guests.append(guest)
    }
  }

  private actor TopicIndex: Resident {
    private(set) var guests: [Int] = []

    func isWelcome(_ guest: Int) -> Bool { guest != 13 }

    func didArrive(_ guest: Int) async {
      preconditionIsolated()
      let count = guests.count
      await Task.yield()
      // Nothing else of this protocol has been handled meanwhile, re-entrant as the actor is.
      guests.append(count == guests.count ? guest : -guest)
    }
  }

  private actor Loop: Resident {
    private let executor: DispatchQueueExecutor
    private(set) var guests: [Int] = []
    private(set) var places: [String] = []

    init(on executor: DispatchQueueExecutor) {
      self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func isWelcome(_ guest: Int) -> Bool {
      preconditionIsolated()
      places.append(MarkedQueue.current)
      return guest != 13
    }

    func didArrive(_ guest: Int) {
      preconditionIsolated()
      places.append(MarkedQueue.current)
      guests.append(guest)
    }
  }

  /// Tells and asks the subscribers of a hub.
  private func exercise(_ hub: DelegateHub) async {
    for guest in 0..<100 { hub[Resident.self].notify() { await $0.didArrive(guest) } }
    #expect(await hub[Resident.self].vote() { await $0.isWelcome(1) })
    #expect(await hub[Resident.self].vote() { await $0.isWelcome(13) } == false)
    #expect(await hub[Resident.self].askInTurn() { await $0.isWelcome(1) ? 1 : nil } == 1)
    await hub[Resident.self].notifyAndWait() { await $0.didArrive(100) }
  }

  @Test("one on the main actor handles there, in order")
  func mainActor() async {
    let hub = DelegateHub()
    let panel = Panel()
    hub.subscribe(panel, to: Resident.self)
    await exercise(hub)
    #expect(await panel.guests == Array(0...100))
    #expect(await hub.drain().isEmpty)
  }

  @Test("the main actor may subscribe, tell and ask")
  @MainActor
  func fromTheMainActor() async {
    let hub = DelegateHub()
    let panel = Panel()
    hub.subscribe(panel, to: Resident.self)
    hub[Resident.self].notify() { await $0.didArrive(1) }
    #expect(await hub[Resident.self].vote() { await $0.isWelcome(1) })
    MainActor.preconditionIsolated()
    await hub[Resident.self].notifyAndWait() { await $0.didArrive(2) }
    MainActor.preconditionIsolated()
    #expect(panel.guests == [1, 2])
  }

  @Test("an actor handles one at a time, in order")
  func actor() async {
    let hub = DelegateHub()
    let topicIndex = TopicIndex()
    hub.subscribe(topicIndex, to: Resident.self)
    await exercise(hub)
    #expect(await topicIndex.guests == Array(0...100))
    #expect(await hub.drain().isEmpty)
  }

  @Test("an actor with a custom executor handles there, in order")
  func customExecutor() async {
    let hub = DelegateHub()
    let loop = Loop(on: DispatchQueueExecutor(MarkedQueue.make("loop")))
    hub.subscribe(loop, to: Resident.self)
    await exercise(hub)
    #expect(await loop.guests == Array(0...100))
    #expect(Set(await loop.places) == ["loop"])
    #expect(await loop.places.count == 104)
    #expect(await hub.drain().isEmpty)
  }

  @Test("its executor is where it is when it is subscribed on that executor, too")
  func customExecutorAndOn() async {
    let hub = DelegateHub()
    let executor = DispatchQueueExecutor(MarkedQueue.make("loop"))
    let loop = Loop(on: executor)
    hub.subscribe(loop, to: Resident.self, on: executor)
    let places = Recorder<String>()
    hub[Resident.self].notify() { resident in
      places.record(MarkedQueue.current)
      await resident.didArrive(7)
      places.record(MarkedQueue.current)
    }
    await exercise(hub)
    #expect(places.history == ["loop", "loop"])
    #expect(await loop.guests == [7] + Array(0...100))
    #expect(Set(await loop.places) == ["loop"])
  }

  @Test("they are all served at once, each where it lives")
  func together() async {
    let hub = DelegateHub()
    let panel = Panel()
    let topicIndex = TopicIndex()
    let loop = Loop(on: DispatchQueueExecutor(MarkedQueue.make("loop")))
    hub.subscribe(panel, to: Resident.self)
    hub.subscribe(topicIndex, to: Resident.self)
    hub.subscribe(loop, to: Resident.self)
    await exercise(hub)
    #expect(await panel.guests == Array(0...100))
    #expect(await topicIndex.guests == Array(0...100))
    #expect(await loop.guests == Array(0...100))
  }
}

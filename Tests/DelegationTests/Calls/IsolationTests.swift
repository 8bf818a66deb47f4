import Delegation
import Dispatch
import Testing

/// What subscribers that live on an actor are told and asked.
private protocol Resident: AnyObject, Sendable {
  func isWelcome(_ guest: Int) async -> Bool
  func didArrive(_ guest: Int) async
}

/// A global actor beside the main one, on a queue of its own.
@globalActor
private actor Backstage {
  static let shared = Backstage()
  private nonisolated let executor = DispatchQueueExecutor(MarkedQueue.make("backstage"))
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

@Backstage
private func isBackstage(_ probe: any Listener) -> Bool { MarkedQueue.current == "backstage" }

@Suite("Closures and subscribers that belong to an actor", .inTurn)
struct IsolationTests {
  @Test(
    "whom the main actor has removed is not called there",
    arguments: CallForm.allCases.filter(\.isOnMainActor), Setting.allCases)
  @MainActor
  func removed(form: CallForm, setting: Setting) async throws {
    let probe = Probe("0")
    let (hub, delegates) = setting.cast([probe])
    func subscriptions() -> [DelegateHub.Statistics.SubscriberStatistics] {
      hub.statistics().protocols.flatMap(\.subscribers)
    }
    let subscription = try #require(subscriptions().first).subscription
    let call = Task.detached { await form(delegates) { $0.log.record(1) } }
    // The handler is on its way to the main actor, which this keeps.
    while true {
      let statistics = subscription.statistics
      if statistics.counts.handling + statistics.questions.answering > 0 { break }
      Threads.pause()
    }
    hub.unsubscribe(probe)
    let missed = "addressed 1, handled 0, failed 0, missed 1"
    let result = await call.value
    #expect(result == (form.call == "notifyAndWait" ? missed : form.result(among: 0)))
    #expect(probe.log.history == [])
    await hub.drain()
    #expect(subscription.statistics.questions.asked == 0)
    #expect(subscription.statistics.counts.handled == 0)
  }

  @Test("closures and functions of any global actor run there, in every call")
  func otherActors() async throws {
    let hub = DelegateHub()
    hub.cast(3)
    let all = hub[Listener.self]
    let places = Recorder<String>()
    all.notify { @Backstage _ in places.record(MarkedQueue.current) }
    await all.notifyAndWait { @Backstage _ in places.record(MarkedQueue.current) }
    #expect(places.clear() == Array(repeating: "backstage", count: 6))
    #expect(await all.vote(isBackstage))
    #expect(await all.vote(absent: .counts(as: false), isBackstage))
    #expect(await all.vote(within: .seconds(60), absent: .counts(as: false), isBackstage))
    #expect(await all.ask(combining: .all(), isBackstage) == [true, true, true])
    #expect(await all.ask(combining: .all(), absent: .abstains, isBackstage) == [true, true, true])
    for reply in await all.collect(isBackstage) { #expect(try reply.result.get()) }
    #expect(await all.askInTurn { @Backstage in isBackstage($0) } == true)
    #expect(await all.pass(1) { @Backstage in isBackstage($0) ? $1 + 1 : nil } == 4)
    #expect(
      await all.pass(1, absent: .abstains) { @Backstage in isBackstage($0) ? $1 + 1 : nil } == 4)
  }

  /// An actor on a queue that knows itself.
  private actor Room {
    private nonisolated let executor = DispatchQueueExecutor(MarkedQueue.make("room"))
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func call(_ hub: DelegateHub) async -> [String] { await Self.places(in: hub) }

    /// Not the room's, so its closures are not either: they are where their caller is.
    private nonisolated(nonsending) static func places(in hub: DelegateHub) async -> [String] {
      var places = [MarkedQueue.current]
      await hub[Listener.self].forEach { _ async in
        await Task.yield()
        places.append(MarkedQueue.current)
      }
      await hub.delayingDrain {
        await Task.yield()
        places.append(MarkedQueue.current)
      }
      return places
    }
  }

  @Test("closures that belong to no actor stay on their caller's", arguments: 0..<3)
  func callers(interceptors: Int) async {
    let other = DelegateHub()
    let hook = Hook { _, next in
      interceptors == 1 ? await next() : await other.delayingDrain { await next() }
    }
    let hub = DelegateHub(.init(interceptors: interceptors > 0 ? [hook] : []))
    hub.cast(2)
    #expect(await Room().call(hub) == ["room", "room", "room", "room"])
  }

  private actor Reentrant: Resident {
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
    nonisolated let executor = DispatchQueueExecutor(MarkedQueue.make("loop"))
    private(set) var guests: [Int] = []
    private(set) var places: [String] = []
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

  @Test("they are all served at once, each where it lives, in order", arguments: [false, true])
  func residents(isOnItsExecutor: Bool) async {
    let hub = DelegateHub()
    let (reentrant, loop) = (Reentrant(), Loop())
    hub.subscribe(reentrant, to: Resident.self)
    hub.subscribe(loop, to: Resident.self, on: isOnItsExecutor ? loop.executor : nil)
    for guest in 0..<100 { hub[Resident.self].notify { await $0.didArrive(guest) } }
    #expect(await hub[Resident.self].vote { await $0.isWelcome(1) })
    #expect(await hub[Resident.self].vote { await $0.isWelcome(13) } == false)
    #expect(await hub[Resident.self].askInTurn { await $0.isWelcome(1) ? 1 : nil } == 1)
    await hub[Resident.self].notifyAndWait { await $0.didArrive(100) }
    #expect(await reentrant.guests == Array(0...100))
    #expect(await loop.guests == Array(0...100))
    #expect(Set(await loop.places) == ["loop"])
    #expect(await hub.drain().isEmpty)
  }
}

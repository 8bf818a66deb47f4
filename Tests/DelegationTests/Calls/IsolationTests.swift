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
  // MARK: Closures

  @Test(
    "whom the main actor has removed is not called there afterwards, and does not count",
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

  @Test("a quorum counts who has really answered", arguments: [false, true])
  @MainActor
  func quorum(isApart: Bool) async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    let rule = BooleanRule.unanimous(ofAtLeast: 3)
    let vote = Task.detached {
      isApart
        ? await hub[Listener.self].vote(by: rule, absent: .counts(as: false)) { @MainActor _ in true
        }
        : await hub[Listener.self].vote(by: rule) { @MainActor _ in true }
    }
    while !subscriptions.contains(where: { $0.statistics.questions.answering > 0 }) {
      Threads.pause()
    }
    subscriptions[2].cancel()
    #expect(await !vote.value)
    withExtendedLifetime(probes) {}
  }

  @Test("what the deadline has decided does not begin on the actor any more")
  @MainActor
  func late() async {
    let clock = ManualClock()
    let hub = DelegateHub(.init(clock: clock, onIncident: { _ in }))
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    let results = Recorder<String>()
    let all = hub[Listener.self]
    let calls: [@Sendable () async -> String] = [
      {
        let isAgreed = await all.vote(within: .seconds(1), absent: .counts(as: false)) {
          @MainActor in
          $0.log.record(1)
          return true
        }
        return "\(isAgreed)"
      },
      {
        "\(await all.collect(within: .seconds(1)) { @MainActor in $0.log.record(2) }.count)"
      },
      {
        let answer = await all.askInTurn(within: .seconds(1), absent: .counts(as: 7)) {
          @MainActor in
          $0.log.record(3)
          return 1
        }
        return "\(answer ?? 0)"
      },
    ]
    for (count, call) in calls.enumerated() {
      let task = Task.detached {
        let alarm = Task.detached {
          await clock.waitForSleepers(1)
          while subscription.statistics.questions.answering == 0 { await Task.yield() }
          clock.advance(by: .seconds(1))
        }
        results.record(await call())
        await alarm.value
      }
      // The main actor is kept until the call has returned, at its deadline.
      while results.count == count { Threads.pause() }
      await task.value
      await hub.drain()
    }
    #expect(results.history == ["false", "1", "7"])
    #expect(probe.log.history == [])
  }

  @Test("closures and functions of any global actor run there, in every call")
  func otherActors() async throws {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
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
    withExtendedLifetime(probes) {}
  }

  // MARK: Callers

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

  @Test(
    "closures that belong to no actor stay on their caller's, in forEach and in delayingDrain",
    arguments: 0..<3)
  func callers(interceptors: Int) async {
    let other = DelegateHub()
    let hook = Hook { _, next in
      interceptors == 1 ? await next() : await other.delayingDrain { await next() }
    }
    let hub = DelegateHub(.init(interceptors: interceptors > 0 ? [hook] : []))
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    #expect(await Room().call(hub) == ["room", "room", "room", "room"])
    withExtendedLifetime(probes) {}
  }

  // MARK: Subscribers

  @MainActor
  private final class Panel: Resident {
    private(set) var guests: [Int] = []
    nonisolated init() {}

    func isWelcome(_ guest: Int) -> Bool {
      MainActor.preconditionIsolated()
      return guest != 13
    }

    func didArrive(_ guest: Int) {
      MainActor.preconditionIsolated()
      guests.append(guest)
    }
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
    let (panel, reentrant, loop) = (Panel(), Reentrant(), Loop())
    let residents: [any Resident] = [panel, reentrant]
    for resident in residents { hub.subscribe(resident, to: Resident.self) }
    hub.subscribe(loop, to: Resident.self, on: isOnItsExecutor ? loop.executor : nil)
    for guest in 0..<100 { hub[Resident.self].notify { await $0.didArrive(guest) } }
    #expect(await hub[Resident.self].vote { await $0.isWelcome(1) })
    #expect(await hub[Resident.self].vote { await $0.isWelcome(13) } == false)
    #expect(await hub[Resident.self].askInTurn { await $0.isWelcome(1) ? 1 : nil } == 1)
    await hub[Resident.self].notifyAndWait { await $0.didArrive(100) }
    #expect(await panel.guests == Array(0...100))
    #expect(await reentrant.guests == Array(0...100))
    #expect(await loop.guests == Array(0...100))
    #expect(Set(await loop.places) == ["loop"])
    #expect(await hub.drain().isEmpty)
  }

  @Test("the main actor may subscribe, tell and ask, and goes on where it was")
  @MainActor
  func fromTheMainActor() async {
    let hub = DelegateHub()
    let panel = Panel()
    hub.subscribe(panel, to: Resident.self)
    hub[Resident.self].notify { await $0.didArrive(1) }
    #expect(await hub[Resident.self].vote { await $0.isWelcome(1) })
    MainActor.preconditionIsolated()
    await hub[Resident.self].notifyAndWait { await $0.didArrive(2) }
    MainActor.preconditionIsolated()
    #expect(panel.guests == [1, 2])
  }
}

import Delegation

/// Does something once: the first time that it is pulled.
final class Trigger: Sendable {
  private typealias Deed = (now: @Sendable () -> Void, awaited: @Sendable () async -> Void)
  private let deed = Guarded<Deed?>(nil)

  /// Says what is to be done, where it cannot be awaited and where it can.
  func set(_ now: @escaping @Sendable () -> Void, awaited: @escaping @Sendable () async -> Void) {
    deed.withLock { $0 = (now, awaited) }
  }

  func pull() { deed.take()?.now() }
  func pull() async { await deed.take()?.awaited() }
}

/// A hub on which a trigger is pulled in a given place.
final class Scene: Sendable {
  let hub: DelegateHub
  let trigger: Trigger
  /// The one in whose surroundings it happens; subscribed to `Listener` unless a mortal takes its part.
  let own = Probe("own")
  /// Another one that is subscribed to `Listener`.
  let neighbour = Probe("neighbour")
  let neighbours: DelegateHub.Subscription
  /// Not subscribed.
  let newcomer = Probe("newcomer")
  let gate = Gate()
  private let subscription = Guarded<DelegateHub.Subscription?>(nil)

  init(_ place: Place, on executor: (any TaskExecutor)? = nil) {
    let trigger = Trigger()
    self.trigger = trigger
    hub = DelegateHub(
      .init(
        executor: executor,
        onIncident: { if place.isIncident, $0.kind == .failed { trigger.pull() } }))
    neighbours = hub.subscribe(neighbour, to: Listener.self)
  }

  /// The subscription of the one in whose surroundings it happens.
  var owns: DelegateHub.Subscription? { subscription.withLock { $0 } }

  @discardableResult
  func subscribe(
    _ probe: Probe, id: (any Hashable & Sendable)? = nil, hold: DelegateHub.Hold = .weakly
  ) -> Delegates<any Listener> {
    let subscription = hub.subscribe(probe, to: Listener.self, id: id, hold: hold)
    self.subscription.withLock { $0 = subscription }
    return hub.listeners
  }

  func makeMortal() -> Probe { Probe("mortal") { [trigger] in trigger.pull() } }
  func makeNotice() -> DeathNotice { DeathNotice { [trigger] in trigger.pull() } }

  /// A handler that holds something.
  func holding(_ notice: DeathNotice) -> @Sendable (Any) -> Void {
    { _ in withExtendedLifetime(notice) {} }
  }
}

/// Where users' code runs that a hub calls, or that runs because a hub releases something.
struct Place: Sendable, CustomStringConvertible {
  let description: String
  var isIncident = false
  /// Brings it about that the scene's trigger is pulled there.
  let play: @Sendable (Scene) async -> Void

  static let all = handlers + combiners + ids + deaths + releases

  private init(_ description: String, _ play: @escaping @Sendable (Scene) async -> Void) {
    (self.description, self.play) = (description, play)
    isIncident = description == "onIncident"
  }

  private static let handlers = [
    Place("synchronous handler") { scene in
      scene.subscribe(scene.own).notify { [trigger = scene.trigger] _ in trigger.pull() }
    },
    Place("asynchronous handler") { scene in
      scene.subscribe(scene.own).notify { [trigger = scene.trigger] _ in await trigger.pull() }
    },
    Place("voter") { scene in
      _ = await scene.subscribe(scene.own).vote { _ in
        await scene.trigger.pull()
        return true
      }
    },
    Place("onIncident") { scene in scene.subscribe(scene.own).notify { _ in throw Refusal() } },
    Place("onCancel") { scene in
      // The vote does not wait for the cancellation of those it no longer needs.
      let cancelled = Gate()
      _ = await scene.subscribe(scene.own).vote { [trigger = scene.trigger, gate = scene.gate] in
        guard $0.name == "own" else {
          await gate.arrivals()
          return false
        }
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          cancelled.arrive()
          trigger.pull()
        }
        return true
      }
      await cancelled.arrivals()
    },
  ]

  private struct Pulling: Combiner {
    enum Moment: CaseIterable { case begins, receives, misses, finishes, dies }
    let moment: Moment
    let trigger: Trigger
    let hub: DelegateHub
    let cargo: DeathNotice?

    func pull(_ now: Moment) { if now == moment { trigger.pull() } }

    mutating func begin(asking count: Int) -> Bool? {
      pull(.begins)
      // Between the snapshot and the first call, so that all are missed.
      if moment == .misses { hub[Listener.self].unsubscribeAll() }
      return nil
    }
    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      pull(.receives)
      return nil
    }
    mutating func receiveNothing(from position: Int) -> Bool? {
      pull(.misses)
      return nil
    }
    mutating func finish() -> Bool {
      pull(.finishes)
      return true
    }
  }

  private static let combiners = Pulling.Moment.allCases.map { moment in
    Place("combiner \(moment)") { scene in
      _ = await scene.subscribe(scene.own).ask(
        combining: Pulling(
          moment: moment, trigger: scene.trigger, hub: scene.hub,
          cargo: moment == .dies ? scene.makeNotice() : nil)
      ) { _ in true }
    }
  }

  private struct Key: Hashable, Sendable, CustomStringConvertible {
    enum Moment: CaseIterable { case hashed, compared, described }
    let moment: Moment
    let trigger: Trigger

    func pull(_ now: Moment) { if now == moment { trigger.pull() } }

    static func == (lhs: Key, rhs: Key) -> Bool {
      lhs.pull(.compared)
      return true
    }
    func hash(into hasher: inout Hasher) { pull(.hashed) }
    var description: String {
      pull(.described)
      return "key"
    }
  }

  private static let ids = Key.Moment.allCases.map { moment in
    Place("id \(moment)") { scene in
      let key = Key(moment: moment, trigger: scene.trigger)
      let all = scene.subscribe(scene.own, id: key)
      switch moment {
      case .hashed: break
      case .compared: scene.hub.unsubscribe(id: key)
      case .described:
        all.notify { [gate = scene.gate] _ in await gate.pass() }
        await scene.gate.arrivals(2)
        _ = await scene.hub.drain(within: .zero).description
      }
    }
  }

  private static let deaths = [
    Place("subscriber dies") { $0.subscribe($0.makeMortal()) },
    Place("subscriber dies after a handler") { scene in
      var mortal: Probe? = scene.makeMortal()
      scene.subscribe(mortal!).notify { [gate = scene.gate] _ in await gate.pass() }
      await scene.gate.arrivals(2)
      mortal = nil
      scene.gate.open()
    },
    Place("subscriber dies after a vote") { scene in
      var mortal: Probe? = scene.makeMortal()
      let all = scene.subscribe(mortal!)
      async let vote = all.vote { [gate = scene.gate] _ in
        await gate.pass()
        return true
      }
      await scene.gate.arrivals(2)
      mortal = nil
      scene.gate.open()
      _ = await vote
    },
    Place("held one is cancelled") { scene in
      scene.subscribe(scene.makeMortal(), hold: .strongly)
      scene.owns?.cancel()
    },
    Place("held one is replaced") { scene in
      scene.subscribe(scene.makeMortal(), id: 1, hold: .strongly)
      scene.subscribe(scene.own, id: 1)
    },
  ]

  /// Takes a response of any type, and decides when there are enough.
  private struct Enough<Response: Sendable>: Combiner {
    let enough: Int
    var received = 0

    mutating func receive(_ response: Response, from position: Int) -> Int? {
      received += 1
      return received == enough ? received : nil
    }
    mutating func finish() -> Int { received }
  }

  private struct Failure: Error {
    let cargo: DeathNotice
  }

  private static let releases = [
    Place("capture is handled") { scene in
      scene.subscribe(scene.own).notify(scene.holding(scene.makeNotice()))
    },
    Place("capture is unheard") { $0.hub.bystanders.notify($0.holding($0.makeNotice())) },
    Place("capture is discarded") { scene in
      let (all, handled) = (scene.subscribe(scene.own), Gate())
      all.notify { [gate = scene.gate] in if $0.name == "own" { await gate.pass() } }
      await scene.gate.arrivals()
      let hold = scene.holding(scene.makeNotice())
      all.notify {
        hold($0)
        handled.arrive()
      }
      await handled.arrivals()
      scene.owns?.cancel()
    },
    Place("capture has asked") { scene in
      let hold = scene.holding(scene.makeNotice())
      _ = await scene.subscribe(scene.own).vote { probe async in
        hold(probe)
        return true
      }
    },
    Place("response dies") { scene in
      _ = await scene.subscribe(scene.own).ask(combining: Enough<DeathNotice>(enough: 3)) {
        _ async in scene.makeNotice()
      }
    },
    Place("late response dies") { scene in
      _ = await scene.subscribe(scene.own).ask(combining: Enough<DeathNotice>(enough: 1)) {
        guard $0.name == "own" else {
          await scene.gate.arrivals()
          return DeathNotice {}
        }
        await scene.gate.pass()
        return scene.makeNotice()
      }
      scene.gate.open()
    },
    Place("error dies") { scene in
      scene.subscribe(scene.own).notify { [trigger = scene.trigger] _ in
        throw Failure(cargo: DeathNotice { trigger.pull() })
      }
    },
  ]
}

import Delegation

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

  private let place: Place
  private let subscription = Guarded<DelegateHub.Subscription?>(nil)
  private let gate = Gate()

  init(_ place: Place, on executor: (any TaskExecutor)? = nil) {
    self.place = place
    let trigger = Trigger()
    self.trigger = trigger
    var configuration = DelegateHub.Configuration()
    configuration.executor = executor
    configuration.on(.failed) { _ in
      if place == .onIncident { trigger.pull() }
    }
    hub = DelegateHub(configuration)
    neighbours = hub.subscribe(neighbour, to: Listener.self)
  }

  /// The subscription of the one in whose surroundings it happens.
  var owns: DelegateHub.Subscription? { subscription.withLock { $0 } }

  /// Lets go on what was held up.
  func end() {
    gate.open()
  }

  /// Brings it about that the trigger is pulled.
  func play() async {
    switch place {
    case .synchronousHandler, .asynchronousHandler, .voter, .onIncident, .onCancel:
      await playHandlers()
    case .combinerBegins, .combinerReceives, .combinerMisses, .combinerFinishes, .combinerDies:
      await playCombiner()
    case .idIsHashed, .idIsCompared, .idIsDescribed:
      await playID()
    case .subscriberDies, .subscriberDiesAfterHandler, .subscriberDiesAfterVote,
      .heldIsCancelled, .heldIsReplaced:
      await playDeath()
    case .captureIsHandled, .captureIsDiscarded, .captureIsUnheard, .captureHasAsked,
      .responseDies, .lateResponseDies, .errorDies:
      await playRelease()
    }
  }

  private func subscribe(
    _ probe: Probe, id: (any Hashable & Sendable)? = nil, hold: DelegateHub.Hold = .weakly
  ) {
    let subscription = hub.subscribe(probe, to: Listener.self, id: id, hold: hold)
    self.subscription.withLock { $0 = subscription }
  }

  // MARK: Handlers

  private func playHandlers() async {
    subscribe(own)
    switch place {
    case .synchronousHandler:
      hub[Listener.self].notify() { [trigger] _ in trigger.pull() }
    case .asynchronousHandler:
      hub[Listener.self].notify() { [trigger] _ in await trigger.pull() }
    case .voter:
      _ = await hub[Listener.self].vote() { [trigger] _ in
        await trigger.pull()
        return true
      }
    case .onIncident:
      hub[Listener.self].notify() { _ in throw Failure(cargo: nil) }
    default:
      // The vote does not wait for the cancellation of those it no longer needs.
      let cancelled = Gate()
      _ = await hub[Listener.self].vote() { [trigger, gate] probe in
        guard probe.name == "own" else {
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
    }
  }

  // MARK: Combiners

  private struct Pulling: Combiner {
    let place: Place
    let trigger: Trigger
    let hub: DelegateHub
    let cargo: DeathNotice?

    mutating func begin(asking count: Int) -> Bool? {
      if place == .combinerBegins { trigger.pull() }
      // Between the snapshot and the first call, so that all are missed.
      if place == .combinerMisses { hub.unsubscribeAll(from: Listener.self) }
      return nil
    }
    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      if place == .combinerReceives { trigger.pull() }
      return nil
    }
    mutating func receiveNothing(from position: Int) -> Bool? {
      if place == .combinerMisses { trigger.pull() }
      return nil
    }
    mutating func finish() -> Bool {
      if place == .combinerFinishes { trigger.pull() }
      return true
    }
  }

  private func playCombiner() async {
    subscribe(own)
    _ = await hub[Listener.self].ask(combining: makeCombiner()) { _ in true }
  }

  private func makeCombiner() -> some Combiner<Bool, Bool> {
    Pulling(
      place: place, trigger: trigger, hub: hub, cargo: place == .combinerDies ? makeNotice() : nil)
  }

  // MARK: Ids

  private struct Key: Hashable, Sendable, CustomStringConvertible {
    let place: Place
    let trigger: Trigger

    static func == (lhs: Key, rhs: Key) -> Bool {
      if lhs.place == .idIsCompared { lhs.trigger.pull() }
      return true
    }
    func hash(into hasher: inout Hasher) {
      if place == .idIsHashed { trigger.pull() }
    }
    var description: String {
      if place == .idIsDescribed { trigger.pull() }
      return "key"
    }
  }

  private func playID() async {
    let key = Key(place: place, trigger: trigger)
    subscribe(own, id: key)
    switch place {
    case .idIsCompared:
      hub.unsubscribe(id: key)
    case .idIsDescribed:
      hub[Listener.self].notify() { [gate] _ in await gate.pass() }
      await gate.arrivals(2)
      _ = await hub.drain(within: .zero).description
    default:
      break
    }
  }

  // MARK: Deaths

  private func makeMortal() -> Probe {
    Probe("mortal", onDeath: { [trigger] in trigger.pull() })
  }

  private func playDeath() async {
    var mortal: Probe? = makeMortal()
    let hold: DelegateHub.Hold =
      [.heldIsCancelled, .heldIsReplaced].contains(place) ? .strongly : .weakly
    if let mortal { subscribe(mortal, id: place == .heldIsReplaced ? 1 : nil, hold: hold) }
    switch place {
    case .subscriberDies:
      mortal = nil
    case .subscriberDiesAfterHandler:
      hub[Listener.self].notify() { [gate] _ in await gate.pass() }
      await gate.arrivals(2)
      mortal = nil
      gate.open()
    case .subscriberDiesAfterVote:
      async let vote = hub[Listener.self].vote() { [gate] _ in
        await gate.pass()
        return true
      }
      await gate.arrivals(2)
      mortal = nil
      gate.open()
      _ = await vote
    case .heldIsReplaced:
      mortal = nil
      subscribe(own, id: 1)
    default:
      mortal = nil
      owns?.cancel()
    }
    _ = mortal
  }

  // MARK: Other releases

  private struct Failure: Error {
    let cargo: DeathNotice?
  }

  /// Takes a response of any type, and decides when there are enough.
  private struct Count<Response: Sendable>: Combiner {
    let enough: Int
    var received = 0

    mutating func receive(_ response: Response, from position: Int) -> Int? {
      received += 1
      return received == enough ? received : nil
    }
    mutating func finish() -> Int { received }
  }

  private func makeNotice() -> DeathNotice {
    DeathNotice { [trigger] in trigger.pull() }
  }

  private func playRelease() async {
    subscribe(own)
    switch place {
    case .captureIsHandled:
      notify(Listener.self, holding: makeNotice(), thenRecordingIn: Recorder())
    case .captureIsUnheard:
      notify(Bystander.self, holding: makeNotice(), thenRecordingIn: Recorder())
    case .captureIsDiscarded:
      hub[Listener.self].notify() { [gate] in if $0.name == "own" { await gate.pass() } }
      await gate.arrivals()
      let handled = Recorder<Void>()
      notify(Listener.self, holding: makeNotice(), thenRecordingIn: handled)
      _ = await handled.history(of: 1)
      owns?.cancel()
    case .captureHasAsked:
      _ = await hub[Listener.self].vote(makeQuestion(holding: makeNotice()))
    case .responseDies:
      _ = await hub[Listener.self].ask(combining: Count<DeathNotice>(enough: 3)) {
        [trigger] _ in DeathNotice { trigger.pull() }
      }
    case .lateResponseDies:
      _ = await hub[Listener.self].ask(combining: Count<DeathNotice>(enough: 1)) {
        [trigger, gate] probe in
        guard probe.name == "own" else {
          await gate.arrivals()
          return DeathNotice {}
        }
        await gate.pass()
        return DeathNotice { trigger.pull() }
      }
      gate.open()
    default:
      hub[Listener.self].notify() { [trigger] _ in
        throw Failure(cargo: DeathNotice { trigger.pull() })
      }
    }
  }

  private func notify<P: Sendable>(
    _ protocol: P.Type, holding notice: DeathNotice, thenRecordingIn handled: Recorder<Void>
  ) {
    hub[`protocol`].notify() { _ in
      withExtendedLifetime(notice) {}
      handled.record(())
    }
  }

  private func makeQuestion(
    holding notice: DeathNotice
  ) -> @Sendable (any Listener) async -> Bool {
    { _ in
      withExtendedLifetime(notice) {}
      return true
    }
  }
}

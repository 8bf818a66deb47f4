import Delegation
import DelegationDistributed
import DelegationTesting
import Dispatch
import Distributed
import PipeCluster
import Testing

/// Two systems in one process: what is remote to the one lives in the other.
@Suite("Subscribing distributed actors", .timeLimit(.minutes(10)))
struct DistributedSubscribingTests {
  let here = PipeSystem()
  let there = PipeSystem()
  let hub = DelegateHub()

  init() {
    here.connect(to: there)
  }

  private func stub(of doorman: Doorman) throws -> Stub {
    try Stub.resolve(id: doorman.id, using: here)
  }

  /// The remote ones that are subscribed, in order.
  private var stubs: [ActorNumber?] { hub[Gatekeeper.self].subscribers.map { ($0 as? Stub)?.id } }

  private func vote(_ guest: String = Guest.welcome) async -> Bool {
    await hub[Gatekeeper.self].vote(by: .anyone, within: .seconds(120), absent: .abstains) {
      try await $0.mayEnter(guest)
    }
  }

  @Test("a remote one is kept, since nobody else keeps its proxy")
  func remote() async throws {
    let doorman = Doorman(actorSystem: there)
    hub.subscribe(try stub(of: doorman), to: Gatekeeper.self)
    #expect(hub[Gatekeeper.self].count == 1)
    #expect(await vote())
    #expect(await doorman.whenLocal { await $0.guests(atLeast: 0) } == [Guest.welcome])
    // What would have become of it.
    hub.unsubscribe(id: doorman.id)
    hub.subscribe(try stub(of: doorman), to: Gatekeeper.self, id: doorman.id, hold: .weakly)
    #expect(hub[Gatekeeper.self].count == 0)
  }

  @Test("a local one that dies is let go")
  func local() async {
    let (deaths, continuation) = AsyncStream<Void>.makeStream()
    var doorman: Doorman? = Doorman(actorSystem: here) { continuation.finish() }
    if let doorman { hub.subscribe(doorman, to: Gatekeeper.self) }
    #expect(hub[Gatekeeper.self].count == 1)
    #expect(await vote())
    doorman = nil
    for await _ in deaths {}
    #expect(hub[Gatekeeper.self].count == 0)
    #expect(await !vote())
  }

  @Test("proxies of one actor are one subscriber, in the place of the first")
  func equalProxies() async throws {
    let doormen = [Doorman(actorSystem: there), Doorman(actorSystem: there)]
    let first = hub.subscribe(try stub(of: doormen[0]), to: Gatekeeper.self)
    hub.subscribe(try stub(of: doormen[1]), to: Gatekeeper.self)
    let second = hub.subscribe(try stub(of: doormen[0]), to: Gatekeeper.self)
    #expect(!first.isActive && second.isActive && stubs == doormen.map(\.id))
    // Any proxy ends it; one that was given another id ends by itself.
    hub.unsubscribe(try stub(of: doormen[0]))
    #expect(stubs == [doormen[1].id])
    let named = try stub(of: doormen[0])
    hub.subscribe(named, to: Gatekeeper.self, id: "porter")
    hub.unsubscribe(named)
    #expect(stubs == [doormen[1].id])
  }

  @Test("of those whose ids are equal each is a subscriber of its own, and ends by itself")
  func equalIDs() throws {
    let (doorman, porter, elsewhere) = (Doorman(actorSystem: there), Porter(), PipeSystem())
    // An object with that id, the actor where it lives, and its proxies of two systems.
    let ends: [(String, () throws -> Void, [Bool])] = [
      ("the object", { hub.unsubscribe(porter) }, [false, true, true, true]),
      ("the actor", { hub.unsubscribe(doorman) }, [true, false, true, true]),
      ("a proxy", { hub.unsubscribe(try stub(of: doorman)) }, [true, true, false, true]),
      (
        "one of another system",
        { hub.unsubscribe(try Stub.resolve(id: doorman.id, using: elsewhere)) },
        [true, true, true, false]
      ),
      ("the id", { hub.unsubscribe(id: doorman.id) }, [false, false, false, false]),
    ]
    for (name, end, expected) in ends {
      let all = [
        hub.subscribe(porter, to: Gatekeeper.self, id: doorman.id),
        hub.subscribe(doorman, to: Gatekeeper.self),
        hub.subscribe(try stub(of: doorman), to: Gatekeeper.self),
        hub.subscribe(
          try Stub.resolve(id: doorman.id, using: elsewhere), to: Gatekeeper.self),
      ]
      #expect(all.map(\.isActive) == [true, true, true, true], "\(name)")
      try end()
      #expect(all.map(\.isActive) == expected, "\(name)")
      hub[Gatekeeper.self].unsubscribeAll()
    }
  }

  @Test("behind the protocol each is held by where it lives: remote, local, no distributed actor")
  func localOrRemote() async throws {
    let away = Doorman(actorSystem: there)
    do {
      let crowd: [any Gatekeeper] = [
        try stub(of: away), try stub(of: away), Doorman(actorSystem: here), Porter(),
      ]
      for gatekeeper in crowd { hub.subscribe(localOrRemote: gatekeeper, to: Gatekeeper.self) }
      #expect(hub[Gatekeeper.self].count == 3)
      withExtendedLifetime(crowd) {}
    }
    #expect(stubs == [away.id])
  }

  @Test("a local actor is subscribed at once, though it is busy, and is known by its id")
  func busy() async throws {
    let doorman = Doorman(actorSystem: here)
    await doorman.whenLocal { isolated in
      // Nobody else can enter the actor as long as this runs.
      let subscription = hub.subscribe(isolated, to: Gatekeeper.self)
      #expect(subscription.isActive)
      hub.unsubscribe(id: doorman.id)
      #expect(!subscription.isActive)
    }
  }

  @Test("priority, mailbox, executor and the place in the source are as with other subscribers")
  func options() async throws {
    let doormen = [Doorman(actorSystem: here), Doorman(actorSystem: here)]
    for (number, doorman) in doormen.enumerated() {
      hub.subscribe(
        doorman, to: Gatekeeper.self, priority: number, mailbox: .latest, on: Self.queue)
    }
    let line = UInt(#line - 3)
    for number in 1...3 {
      hub[Gatekeeper.self].notify { try await $0.didEnter(number) }
    }
    await hub.drain()
    let statistics = hub.statistics().protocols.flatMap(\.subscribers)
    #expect(statistics.map(\.subscriber).first?.contains("\(doormen[1].id)") == true)
    #expect(
      statistics.map(\.site) == Array(repeating: "\(#fileID):\(line)", count: 2))
    for doorman in doormen {
      #expect(await doorman.whenLocal { $0.entered().last } == 3)
    }
  }

  /// The ways to subscribe a proxy of which the hub has to see that it is one.
  private static let ways: [(String, @Sendable (DelegateHub, Stub) -> Void)] = [
    ("an executor", { $0.subscribe($1, to: Gatekeeper.self, on: queue) }),
    ("localOrRemote:", { $0.subscribe(localOrRemote: $1, to: Gatekeeper.self, on: queue) }),
    ("toEachOf:", { $0.subscribe($1, toEachOf: Gatekeeper.self, Unheard.self) }),
    ("a registry", { $0[Gatekeeper.self].registry.subscribe($1, on: queue) }),
  ]
  private static let queue = DispatchQueueExecutor(DispatchQueue(label: "doormen"))

  @Test(
    "however they are subscribed, proxies are kept and are one subscriber", arguments: ways.indices)
  func otherWays(way: Int) async throws {
    let (name, subscribe) = Self.ways[way]
    let doorman = Doorman(actorSystem: there)
    for _ in 0..<2 { subscribe(hub, try stub(of: doorman)) }
    #expect(hub[Gatekeeper.self].count == 1, "\(name)")
    #expect(await vote())
    #expect(await doorman.whenLocal { await $0.guests(atLeast: 0) } == [Guest.welcome])
  }

  /// In each of these systems the first actor has the same id as the first one of another.
  @Test("so are local actors of two systems")
  func equalLocalIDs() async {
    let entered = Recorder<String>()
    let concierges = ["first", "second"].map {
      Concierge($0, entered: entered, actorSystem: LocalTestingDistributedActorSystem())
    }
    for concierge in concierges { hub.subscribe(concierge, to: Gatekeeper.self) }
    hub[Gatekeeper.self].notify { try await $0.didEnter(1) }
    await hub.drain()
    #expect(Set(entered.events) == ["first: 1", "second: 1"])
    hub.unsubscribe(concierges[0])
    #expect(hub[Gatekeeper.self].count == 1)
  }

  @Test("one who does not conform stops the program with a message that names both types")
  func notConforming() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      let stranger = Stranger(actorSystem: PipeSystem())
      DelegateHub().subscribe(stranger, to: Gatekeeper.self)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("Stranger does not conform to Gatekeeper"))
  }
}

/// What no doorman conforms to.
private protocol Unheard: AnyObject, Sendable {}

/// Somebody with nothing to say about guests.
private distributed actor Stranger {
  typealias ActorSystem = PipeSystem
}

/// Writes down what it is told.
private distributed actor Concierge: Gatekeeper {
  typealias ActorSystem = LocalTestingDistributedActorSystem

  private let name: String
  private let entered: Recorder<String>

  init(_ name: String, entered: Recorder<String>, actorSystem: ActorSystem) {
    self.name = name
    self.entered = entered
    self.actorSystem = actorSystem
  }

  distributed func mayEnter(_ guest: String) async throws -> Bool { true }

  distributed func didEnter(_ number: Int) async throws { entered.record("\(name): \(number)") }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import DelegationDistributed
import Dispatch
import Distributed
import Testing

// sample: One protocol for all
public protocol Gatekeeper: AnyObject, Sendable {
  func mayEnter(_ guest: String) async throws -> Bool
  func didEnter(_ number: Int) async throws
}

public distributed actor Doorman: Gatekeeper {
  public typealias ActorSystem = ClusterSystem

  public distributed func mayEnter(_ guest: String) -> Bool { guest != "Mallory" }
  public distributed func didEnter(_ number: Int) {}
}
// end of sample

/// What no doorman is.
private protocol Janitor: AnyObject, Sendable {}

// sample: A resolvable protocol
@Resolvable
public protocol RemoteGatekeeper: DistributedActor
where ActorSystem: DistributedActorSystem<any Codable> {
  distributed func mayEnter(_ guest: String) async throws -> Bool
  distributed func didEnter(_ number: Int) async throws
}

extension $RemoteGatekeeper: Gatekeeper {}
// end of sample

// sample: A cluster's doormen
distributed actor Doormen: LifecycleWatch {
  typealias ActorSystem = ClusterSystem

  private let hub: DelegateHub

  init(subscribingTo hub: DelegateHub, actorSystem: ClusterSystem) {
    self.hub = hub
    self.actorSystem = actorSystem
  }

  /// Subscribes the doormen who are there and those to come.
  func run() async {
    for await doorman in await actorSystem.receptionist.listing(of: .doormen) {
      hub.subscribe(doorman, to: Gatekeeper.self, mailbox: .dropOldest(limit: 1_000))
      watchTermination(of: doorman)
    }
  }

  func terminated(actor id: ActorID) {
    hub.unsubscribe(id: id)
  }
}

extension DistributedReception.Key {
  static var doormen: DistributedReception.Key<Doorman> { "doormen" }
}
// end of sample

@Suite("Samples of beyond one process", .timeLimit(.minutes(10)))
struct BeyondOneProcessSamples {
  private let hub = DelegateHub()
  private let system = ClusterSystem()

  private func vote(_ guest: String) async -> Bool {
    await hub[Gatekeeper.self].vote(
      by: .unanimous(ofAtLeast: 1), within: .milliseconds(200), absent: .counts(as: false)
    ) { try await $0.mayEnter(guest) }
  }

  @Test("doormen are subscribed, known by their ids, and unsubscribed")
  func doormen() async throws {
    let doorman = Doorman(actorSystem: system)
    // sample: Subscribing here and there
    // A distributed actor, wherever it is.
    hub.subscribe(doorman, to: Gatekeeper.self)
    // end of sample
    let gatekeeper: any Gatekeeper = Doorman(actorSystem: system)
    // sample: Subscribing here and there
    // An `any Gatekeeper`, which may be one.
    hub.subscribe(localOrRemote: gatekeeper, to: Gatekeeper.self)
    // end of sample
    #expect(hub[Gatekeeper.self].count == 2)
    // A gate that is late says "no" as well.
    #expect(await !vote("Mallory"))
    // sample: Subscribing here and there
    // By its id, so by any proxy.
    hub.unsubscribe(doorman)
    // end of sample
    #expect(hub[Gatekeeper.self].count == 1)
    hub[Gatekeeper.self].unsubscribeAll()
    add(gatekeeper)
    #expect(hub[Gatekeeper.self].count == 1)
  }

  @Test("on a queue and to several protocols a doorman is one subscriber as well")
  func otherWays() async {
    let doorman = Doorman(actorSystem: system)
    hub.subscribe(
      doorman, to: Gatekeeper.self, on: DispatchQueueExecutor(DispatchQueue(label: "gate")))
    #expect(hub[Gatekeeper.self].count == 1)
    // sample: To several protocols
    hub.subscribe(doorman, toEachOf: Gatekeeper.self, Janitor.self)
    // end of sample
    #expect(hub[Gatekeeper.self].count == 1)
    #expect(hub[Janitor.self].count == 0)
  }

  // sample: Somebody who may live anywhere
  func add(_ gatekeeper: any Gatekeeper) {
    hub.subscribe(localOrRemote: gatekeeper, to: Gatekeeper.self)
  }
  // end of sample

  @Test("a cluster's doormen come and go")
  func cluster() async {
    let doormen = Doormen(subscribingTo: hub, actorSystem: system)
    let doorman = Doorman(actorSystem: system)
    let running = Task { await doormen.whenLocal { await $0.run() } }
    await system.receptionist.checkIn(doorman, with: .doormen)
    while hub[Gatekeeper.self].count == 0 { await Task.yield() }
    await doormen.whenLocal { $0.terminated(actor: doorman.id) }
    #expect(hub[Gatekeeper.self].count == 0)
    running.cancel()
    _ = await running.value
  }

  @Test("a listing's doormen are subscribed as they come")
  func listing() async {
    let (hub, cluster) = (hub, Listing())
    let doorman = Doorman(actorSystem: system)
    cluster.receptionist.guests.continuation.yield(doorman)
    cluster.receptionist.guests.continuation.finish()
    // sample: A listing
    for await doorman in await cluster.receptionist.listing(of: .doormen) {
      hub.subscribe(doorman, to: Gatekeeper.self)
    }
    // end of sample
    #expect(hub[Gatekeeper.self].count == 1)
    withExtendedLifetime(doorman) {}
  }

  /// A cluster whose listing ends.
  private struct Listing {
    struct Receptionist {
      let guests = AsyncStream.makeStream(of: Doorman.self)

      func listing(of key: DistributedReception.Key<Doorman>) async -> AsyncStream<Doorman> {
        guests.stream
      }
    }
    let receptionist = Receptionist()
  }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Distributed

// Stand-ins for what the samples use of swift-distributed-actors, of the same shape.

public typealias ClusterSystem = LocalTestingDistributedActorSystem
public typealias ActorID = ClusterSystem.ActorID

/// Who is told when an actor is gone.
protocol LifecycleWatch: DistributedActor where ActorSystem == ClusterSystem {
  func terminated(actor id: ActorID)
}

extension LifecycleWatch {
  func watchTermination(of actor: some DistributedActor) {}
}

enum DistributedReception {
  struct Key<Guest: DistributedActor & Sendable>: ExpressibleByStringLiteral, Sendable {
    let name: String

    init(stringLiteral name: String) { self.name = name }
  }
}

/// One for the process.
struct Receptionist {
  private static let doormen = AsyncStream.makeStream(of: Doorman.self)

  func checkIn(_ doorman: Doorman, with key: DistributedReception.Key<Doorman>) async {
    Self.doormen.continuation.yield(doorman)
  }

  func listing(of key: DistributedReception.Key<Doorman>) async -> AsyncStream<Doorman> {
    Self.doormen.stream
  }
}

extension ClusterSystem {
  var receptionist: Receptionist { Receptionist() }
}

import Delegation
import Distributed
import LoopbackCluster

/// How a gatekeeper in another process is called.
typealias Stub = $RemoteGatekeeper<LoopbackSystem>

/// A test's actor system and the processes that it starts, all ended with the test.
final class Cluster: Sendable {
  let system = LoopbackSystem()
  private let peers = Locked<[PeerProcess]>([])

  private init() {}

  /// Runs a test, and waits until its processes have ended.
  static func run(_ body: (Cluster) async throws -> Void) async throws {
    let cluster = Cluster()
    do {
      try await body(cluster)
    } catch {
      await cluster.end()
      throw error
    }
    await cluster.end()
  }

  /// Starts a process.
  func start(gatekeepers: Int = 1) async throws -> PeerProcess {
    let peer = try await PeerProcess.start(gatekeepers: gatekeepers)
    peers.withLock { $0.append(peer) }
    return peer
  }

  /// Starts a process with one gatekeeper.
  func startOne() async throws -> (peer: PeerProcess, gatekeeper: Stub) {
    let peer = try await start()
    return (peer, try gatekeeper(peer.ids[0]))
  }

  /// A proxy of a gatekeeper in another process.
  func gatekeeper(_ id: LoopbackID) throws -> Stub {
    try Stub.resolve(id: id, using: system)
  }

  private func end() async {
    for peer in peers.withLock({ $0 }) {
      peer.kill()
      await peer.end()
    }
    system.shutDown()
  }
}

import Delegation
import DelegationDistributed
import DelegationTesting
import Foundation
import PipeCluster

/// How a gatekeeper in another process is called.
typealias Stub = $RemoteGatekeeper<PipeSystem>

/// A test's actor system and the processes that it starts, all ended with the test.
final class Cluster: Sendable {
  let system = PipeSystem()
  private let peers = Locked<[PeerProcess]>([])

  /// Runs a test, and waits until its processes have ended.
  static func run(_ body: (Cluster) async throws -> Void) async throws {
    let cluster = Cluster()
    func end() async {
      for peer in cluster.peers.withLock({ $0 }) {
        peer.signal(SIGKILL)
        await peer.end()
      }
      cluster.system.shutDown()
    }
    do { try await body(cluster) } catch {
      await end()
      throw error
    }
    await end()
  }

  /// Runs a test with a process that has one gatekeeper, and a hub that asks that one, after a porter here.
  static func runWithOne(
    _ change: (inout DelegateHub.Configuration) -> Void = { _ in },
    _ body: (Cluster, PeerProcess, Stub, DelegateHub, Porter) async throws -> Void
  ) async throws {
    var configuration = DelegateHub.Configuration()
    change(&configuration)
    let (hub, porter) = (DelegateHub(configuration), Porter())
    try await run { cluster in
      let (peer, remote) = try await cluster.startOne()
      hub.subscribe(porter, to: Gatekeeper.self)
      hub.subscribe(remote, to: Gatekeeper.self)
      try await body(cluster, peer, remote, hub, porter)
    }
  }

  /// Starts a process with gatekeepers, and makes proxies of them.
  func start(gatekeepers: Int = 1) async throws -> (peer: PeerProcess, gatekeepers: [Stub]) {
    let peer = try PeerProcess(gatekeepers: gatekeepers)
    peers.withLock { $0.append(peer) }
    let ids = await system.connect(reading: peer.output, writing: peer.input)
    guard ids.count == gatekeepers else { throw PipeError.connectionLost }
    return (peer, try ids.map { try Stub.resolve(id: $0, using: system) })
  }

  /// Starts a process with one gatekeeper.
  func startOne() async throws -> (peer: PeerProcess, gatekeeper: Stub) {
    let (peer, gatekeepers) = try await start()
    return (peer, gatekeepers[0])
  }
}

/// A process with gatekeepers, which ends at the latest when its standard input does.
final class PeerProcess: Sendable {
  /// The program has not been built beside the tests.
  struct NotBuilt: Error {
    var lookedFor: [String]
  }

  let input: FileHandle
  let output: FileHandle
  private let process = Process()

  init(gatekeepers: Int) throws {
    let (input, output) = (Pipe(), Pipe())
    (self.input, self.output) = (input.fileHandleForWriting, output.fileHandleForReading)
    process.executableURL = try Self.executable()
    process.arguments = ["\(gatekeepers)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  func signal(_ number: Int32) {
    // The number of a process that has ended may be another's by now.
    if process.isRunning { _ = kill(process.processIdentifier, number) }
  }

  /// Waits until it has ended, for a minute at most: then it is killed, which its status shows.
  ///
  /// - Returns: its status, or the signal that ended it.
  @discardableResult
  func end() async -> Int32 {
    let killing = DispatchWorkItem { self.signal(SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: killing)
    defer { killing.cancel() }
    return await Self.elsewhere { [process] in
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  /// Stops it as it is, and waits until it stands still.
  func stop() async {
    signal(SIGSTOP)
    let process = id_t(process.processIdentifier)
    _ = await Self.elsewhere {
      var info = siginfo_t()
      // Left to be waited for by the thread that reaps the process.
      return waitid(P_PID, process, &info, Int32(WSTOPPED) | Int32(WNOWAIT))
    }
  }

  /// Does what waits on a thread of its own: none of Swift's pool, which other tests need.
  private static func elsewhere(_ body: @escaping @Sendable () -> Int32) async -> Int32 {
    await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: body()) }.start()
    }
  }

  /// The program, which lies beside the tests' bundle or program.
  private static func executable() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles + [URL(filePath: CommandLine.arguments[0])]
    let candidates = tests.map { $0.deletingLastPathComponent().appending(path: "DistributedPeer") }
    guard
      let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
    else { throw NotBuilt(lookedFor: candidates.map(\.path)) }
    return found
  }
}

/// A gatekeeper that is no distributed actor, and has an answer to everything.
final class Porter: Gatekeeper {
  let (asked, entered) = (Recorder<String>(), Recorder<Int>())

  func mayEnter(_ guest: String) async -> Bool {
    asked.record(guest)
    return guest != Guest.unwelcome
  }

  func didEnter(_ number: Int) async { entered.record(number) }
}

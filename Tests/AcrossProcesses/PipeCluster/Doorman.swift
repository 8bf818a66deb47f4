import Distributed

/// A gatekeeper for one's own process or another.
package distributed actor Doorman: RemoteGatekeeper, Gatekeeper {
  package typealias ActorSystem = PipeSystem

  /// It cannot say.
  struct Perplexed: Error {}

  private var asked: [String] = []
  private var numbers: [Int] = []
  private var watchers: [(count: Int, continuation: CheckedContinuation<[String], Never>)] = []
  private let onDeath: @Sendable () -> Void

  package init(
    actorSystem: PipeSystem, onDeath: @escaping @Sendable () -> Void = {}
  ) {
    self.actorSystem = actorSystem
    self.onDeath = onDeath
  }

  deinit {
    onDeath()
  }

  package distributed func mayEnter(_ guest: String) async throws -> Bool {
    asked.append(guest)
    for watcher in watchers where watcher.count <= asked.count {
      watcher.continuation.resume(returning: asked)
    }
    watchers.removeAll { $0.count <= asked.count }
    switch guest {
    case Guest.unanswered: await forever()
    case Guest.impossible: throw Perplexed()
    default: break
    }
    return guest != Guest.unwelcome
  }

  package distributed func didEnter(_ number: Int) {
    numbers.append(number)
  }

  package distributed func guests(atLeast count: Int) async -> [String] {
    if asked.count >= count { return asked }
    return await withCheckedContinuation { watchers.append((count, $0)) }
  }

  package distributed func entered() -> [Int] { numbers }

  private func forever() async {
    // Neither ends nor is ever resumed, and nobody complains about that.
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  }
}

import Synchronization

/// How far a simulation has come.
final class Progress: Sendable {
  private let done = Atomic(0)

  var count: Int { done.load(ordering: .relaxed) }

  func advance() {
    done.add(1, ordering: .relaxed)
  }
}

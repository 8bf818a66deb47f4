import Delegation

/// Does something once: the first time that it is pulled.
final class Trigger: Sendable {
  private struct Deed: Sendable {
    /// What is done where it cannot be awaited.
    let synchronously: @Sendable () -> Void
    /// What is done where it can be.
    let asynchronously: @Sendable () async -> Void
  }

  private let deed = Guarded<Deed?>(nil)

  /// Says what is to be done.
  func set(
    synchronously: @escaping @Sendable () -> Void,
    asynchronously: @escaping @Sendable () async -> Void
  ) {
    deed.withLock {
      $0 = Deed(synchronously: synchronously, asynchronously: asynchronously)
    }
  }

  func pull() {
    take()?.synchronously()
  }

  func pull() async {
    await take()?.asynchronously()
  }

  private func take() -> Deed? {
    deed.withLock { deed in
      defer { deed = nil }
      return deed
    }
  }
}

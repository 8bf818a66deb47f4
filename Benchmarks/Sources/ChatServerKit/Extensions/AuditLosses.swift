import Synchronization

/// Counts what should have been written down and was not, of all audits that a server had.
final class AuditLosses: Sendable {
  private let events = Atomic(0)

  var count: Int { events.load(ordering: .relaxed) }

  func add() {
    events.add(1, ordering: .relaxed)
  }
}

import Synchronization

/// What must not have happened, but did.
final class Violations: Sendable {
  private let found = Mutex<[String: Int]>([:])

  /// Notes a violation.
  ///
  /// - Parameter violation: in words, the same words for the same kind.
  func record(_ violation: String) {
    found.withLock { $0[violation, default: 0] += 1 }
  }

  /// Notes a violation if a condition does not hold.
  ///
  /// - Parameters:
  ///   - condition: what has to hold.
  ///   - violation: what it means if not.
  func check(_ condition: Bool, _ violation: @autoclosure () -> String) {
    if !condition { record(violation()) }
  }

  /// All of them, with how often each was found.
  var list: [String] {
    found.withLock { found in
      found.sorted { $0.key < $1.key }.map { $0.value == 1 ? $0.key : "\($0.key), \($0.value) x" }
    }
  }
}

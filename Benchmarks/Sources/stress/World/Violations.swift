import Synchronization

/// What must not have happened, but did.
final class Violations: Sendable {
  private let found = Mutex<[String: Int]>([:])

  /// Notes a violation if a condition does not hold, in the same words for the same kind.
  func check(_ condition: Bool, _ violation: @autoclosure () -> String) {
    if !condition { found.withLock { $0[violation(), default: 0] += 1 } }
  }

  /// Notes a violation if two counts differ.
  func check(_ name: String, hub: Int, own: Int) {
    check(hub == own, "\(name): the hub says \(hub), the program \(own)")
  }

  /// All of them, with how often each was found.
  var list: [String] {
    found.withLock { found in
      found.sorted { $0.key < $1.key }.map { $0.value == 1 ? $0.key : "\($0.key), \($0.value) x" }
    }
  }
}

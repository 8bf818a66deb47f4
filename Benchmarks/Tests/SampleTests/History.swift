import Synchronization

/// What happened, in order.
final class History: Sendable {
  private let state = Mutex<[String]>([])

  var lines: [String] { state.withLock { $0 } }

  func add(_ line: String) {
    state.withLock { $0.append(line) }
  }
}

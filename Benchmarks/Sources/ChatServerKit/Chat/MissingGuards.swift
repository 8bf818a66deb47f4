import DelegationAdapters
import Synchronization

/// The extensions that questions were refused for because they were not there, for those who look at the page.
final class MissingGuards: Sendable {
  /// What is closed while one is missing.
  enum Question: String, Sendable {
    case logIn = "log-ins"
    case join = "joins"
    case say = "messages"
  }

  private struct Missing {
    let name: String
    let since = ContinuousClock.now
    var count = 0
  }

  private let state = Mutex<[Question: Missing]>([:])

  /// Takes note that a question was refused for an extension.
  func miss(_ name: String, at question: Question) {
    state.withLock { state in
      if state[question]?.name != name { state[question] = Missing(name: name) }
      state[question]?.count += 1
    }
  }

  /// Takes note that all were there.
  func complete(_ question: Question) {
    state.withLock { _ = $0.removeValue(forKey: question) }
  }

  /// Takes note that an extension is there again.
  func find(_ name: String) {
    state.withLock { state in state = state.filter { $1.name != name } }
  }

  var troubles: [HubPageService.Trouble] {
    state.withLock { $0 }.map { question, missing in
      .init(
        missing.name,
        "is missing, or answered too late: \(missing.count) \(question.rawValue) refused so far",
        since: missing.since)
    }
  }
}

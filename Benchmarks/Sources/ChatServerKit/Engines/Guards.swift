import Synchronization

/// The extensions that a question cannot do without: all that have ever been there to be asked.
///
/// Their names outlast them. So what is closed by one of them stays closed while it is exchanged, and after it was
/// unloaded, or has died.
final class Guards: Sendable {
  struct Names {
    var authenticators: [String: Int] = [:]
    var joinRules: [String] = []
    var messageGates: [String] = []
  }

  private let state = Mutex(Names())

  var names: Names { state.withLock { $0 } }

  func add(_ extension: any ServerExtension) {
    let name = `extension`.name
    let priority = `extension`.options.priority
    func note(_ isOne: Bool, in names: inout [String]) {
      if isOne, !names.contains(name) { names.append(name) }
    }
    state.withLock { names in
      if `extension` is any Authenticator { names.authenticators[name] = priority }
      note(`extension` is any JoinRule, in: &names.joinRules)
      note(`extension` is any MessageGate, in: &names.messageGates)
    }
  }
}

/// The question of who somebody is.
///
/// Whoever is asked is so by way of ``ask(_:)``, which notes who does not know.
final class Inquiry: Sendable {
  typealias Reply = (name: String, answer: Answer<User>)

  private let credentials: Credentials
  private let guards: [String: Int]
  private let unaware = Mutex<Set<String>>([])

  init(_ credentials: Credentials, _ guards: Guards) {
    self.credentials = credentials
    self.guards = guards.names.authenticators
  }

  func ask(_ authenticator: any Authenticator) async -> Reply? {
    if let answer = await authenticator.user(for: credentials) {
      return (authenticator.name, answer)
    }
    unaware.withLock { _ = $0.insert(authenticator.name) }
    return nil
  }

  /// What the first reply means: a "yes" counts only if all those before have said that they do not know.
  func recognition(by reply: Reply?) -> Recognition {
    let unaware = unaware.withLock { $0 }
    let priority = reply.flatMap { guards[$0.name] } ?? .min
    let missing = guards.first { name, its in
      its >= priority && name != reply?.name && !unaware.contains(name)
    }
    if case .no = reply?.answer { return .refused }
    if let missing { return .undecided(missing: missing.key) }
    if case .yes(let user) = reply?.answer { return .known(user) }
    return .unknown
  }
}

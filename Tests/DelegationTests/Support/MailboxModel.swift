@testable import Delegation

/// What becomes of a hub's notifications, told as simply as possible: one protocol, one thread, and
/// handlers that return, throw, or wait until they are released.
struct MailboxModel {
  enum Kind: CaseIterable {
    case returning, throwing, waiting
  }

  /// A subscriber and what waits for it.
  struct Member {
    var policy: DelegateHub.MailboxPolicy
    var isSubscribed = true
    /// Whether nobody but the handler that is running, if one is, keeps the subscriber alive.
    var isMortal = false
    var waiting: [(number: Int, kind: Kind)] = []
    /// The notification whose handler waits to be released.
    var holding: Int?
    /// The numbers of those whose handlers were called.
    var called: [Int] = []
  }

  var members: [Member] = []
  private(set) var posted = 0
  private(set) var addressed = 0
  private(set) var handled = 0
  private(set) var failed = 0
  private(set) var expired = 0
  private(set) var dropped = 0
  private(set) var cancelled = 0

  var waiting: Int {
    members.reduce(0) { $0 + $1.waiting.count }
  }

  var handling: Int {
    members.count { $0.holding != nil }
  }

  /// All of it, in words.
  var description: String {
    "posted \(posted), addressed \(addressed), handled \(handled), failed \(failed), "
      + "expired \(expired), dropped \(dropped), cancelled \(cancelled), waiting \(waiting), "
      + "handling \(handling)"
  }

  mutating func post(_ number: Int, _ kind: Kind) {
    guard members.contains(where: \.isSubscribed) else { return }
    posted += 1
    for index in members.indices where members[index].isSubscribed {
      addressed += 1
      members[index].waiting.append((number, kind))
      trim(index)
    }
  }

  mutating func change(_ index: Int, to policy: DelegateHub.MailboxPolicy) {
    members[index].policy = policy
    trim(index)
  }

  mutating func cancel(_ index: Int) {
    guard members[index].isSubscribed else { return }
    members[index].isSubscribed = false
    cancelled += members[index].waiting.count
    members[index].waiting = []
  }

  mutating func release(_ index: Int) {
    members[index].holding = nil
    handled += 1
  }

  /// Handles what can be handled.
  mutating func run() {
    for index in members.indices {
      while members[index].holding == nil, !members[index].waiting.isEmpty {
        if members[index].isMortal {
          expired += members[index].waiting.count
          members[index].waiting = []
          members[index].isSubscribed = false
          break
        }
        let (number, kind) = members[index].waiting.removeFirst()
        members[index].called.append(number)
        switch kind {
        case .returning: handled += 1
        case .throwing: failed += 1
        case .waiting: members[index].holding = number
        }
      }
    }
  }

  private mutating func trim(_ index: Int) {
    let policy = members[index].policy
    let excess = members[index].waiting.count - (policy.limit ?? .max)
    guard excess > 0 else { return }
    dropped += excess
    if policy.dropsOldest {
      members[index].waiting.removeFirst(excess)
    } else {
      members[index].waiting.removeLast(excess)
    }
  }
}

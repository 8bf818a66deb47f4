/// Who is asked and told, held weakly.
actor ExtensionRoster {
  private struct Entry {
    weak var subscriber: (any ServerExtension)?
    let priority: Int
  }

  private var entries: [Entry] = []

  func add(_ subscriber: any ServerExtension) {
    let priority = subscriber.options.priority
    let place = entries.firstIndex { $0.priority < priority } ?? entries.endIndex
    entries.insert(Entry(subscriber: subscriber, priority: priority), at: place)
  }

  func remove(_ subscriber: any ServerExtension) {
    entries.removeAll { $0.subscriber == nil || $0.subscriber === subscriber }
  }

  var authenticators: [any Authenticator] { all() }
  var joinRules: [any JoinRule] { all() }
  var messageGates: [any MessageGate] { all() }
  var messageRules: [any MessageRule] { all() }
  var rewriters: [any MessageRewriter] { all() }
  var observers: [any RoomObserver] { all() }
  var historyKeepers: [any HistoryKeeper] { all() }
  var presenceKeepers: [any PresenceKeeper] { all() }

  private func all<P>() -> [P] {
    entries.compactMap { $0.subscriber as? P }
  }
}

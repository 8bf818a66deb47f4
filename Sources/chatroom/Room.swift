import Delegation

/// A room to talk in: messages are put to its rules, and its observers are told the decisions.
actor Room {
  /// Rules are asked, and observers told: two protocols on one hub.
  private let ruling = Delegates<any RoomRule>()
  private let watching: Delegates<any RoomObserver>
  // The hub holds its subscribers weakly: these live as long as the room,
  private let residents: [any AnyObject & Sendable]
  // and these until they are lifted.
  private var mutings: [String: MutingRule] = [:]

  /// Opens a room.
  ///
  /// - Parameters:
  ///   - rules: are asked; the first in this order that vetoes is named.
  ///   - observers: are told.
  init(rules: [any RoomRule], observers: [any RoomObserver]) {
    residents = rules + observers
    watching = ruling.hub[RoomObserver.self]
    for rule in rules { ruling.registry.subscribe(rule) }
    for observer in observers { watching.registry.subscribe(observer) }
  }

  /// Puts a message to the rules and, without waiting for them, tells the observers.
  ///
  /// Without rules nobody objects, which is intended: rules restrict a room that is open. No rule waits for anything
  /// else, so none needs a deadline. Not isolated: messages that come from many tasks at once need not queue for the
  /// room.
  @discardableResult
  nonisolated func post(_ message: Message) async -> Decision {
    let decision = await ruling.ask(combining: FirstVeto()) { rule in
      Vote(rule: rule.name, verdict: await rule.room(self, mayDeliver: message))
    }
    if let veto = decision.veto {
      watching.notify { await $0.room(self, didVeto: message, for: veto) }
    } else {
      watching.notify { await $0.room(self, didDeliver: message) }
    }
    return decision
  }

  /// Adds a rule against somebody; false if there is one already.
  @discardableResult
  func mute(_ name: String) -> Bool {
    let rule = MutingRule(name)
    guard mutings[rule.key] == nil else { return false }
    mutings[rule.key] = rule
    ruling.registry.subscribe(rule)
    return true
  }

  /// Releases the rule against somebody; false if there is none.
  ///
  /// Nothing is unsubscribed: the rule dies, and its subscription with it. A vote on another message may keep it alive
  /// for a moment.
  @discardableResult
  func unmute(_ name: String) -> Bool {
    mutings.removeValue(forKey: name.lowercased()) != nil
  }

  /// What the rules that vote right now look for, in their order.
  nonisolated func rules() -> [String] {
    ruling.subscribers.map { "\($0.name): \($0.detail)" }
  }

  /// Waits until all observers have handled all that they were told.
  nonisolated func settle() async {
    await ruling.hub.drain()
  }
}

/// What the hub's actor keeps of one protocol: who is subscribed, as of the last settling, and the
/// accounts of those that were.
struct TopicRoster {
  let topic: Topic
  private var roster = Roster<SubscriptionNode>()
  /// The accounts of the subscriptions that have left the roster.
  private var closed = Account()

  init(topic: Topic) {
    self.topic = topic
  }

  /// Takes over what the inbox has heard.
  mutating func apply(_ changes: TopicIndex.Changes) {
    for node in changes.joined { roster.add(node) }
    for (former, successor) in changes.replaced { roster.replace(former, by: successor) }
    for (node, rank) in changes.ranked { roster.rank(node, rank) }
    if changes.left > 0 { roster.remove(count: changes.left) }
    addUpDeparted()
  }

  /// The subscriptions, in order.
  mutating func snapshot() -> [SubscriptionNode] {
    let nodes = roster.snapshot()
    addUpDeparted()
    return nodes
  }

  /// Adds up the accounts of those that have left for good, and releases them.
  private mutating func addUpDeparted() {
    guard roster.hasDepartures else { return }
    for node in roster.takeDeparted() { closed += node.account }
  }

  /// What there is to look into.
  struct Overview: Sendable {
    var topic: Topic
    /// The accounts of those that are gone.
    var closed: Account
    /// All others, those that are leaving included.
    var nodes: [SubscriptionNode]
  }

  /// What there is to look into, for the caller to look off the actor.
  mutating func overview() -> Overview {
    let nodes = roster.everyone()
    return Overview(topic: topic, closed: closed, nodes: nodes)
  }
}

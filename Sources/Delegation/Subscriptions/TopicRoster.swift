/// What the hub's actor keeps of one protocol: who is subscribed, as of the last settling, and the
/// accounts of those that were.
struct TopicRoster {
  let topic: Topic
  private var roster = Roster<SubscriptionNode>()
  /// The accounts of the subscriptions that have left the roster.
  private var finished = Account()

  init(topic: Topic) {
    self.topic = topic
  }

  /// Takes over what the inbox has heard.
  mutating func apply(_ changes: TopicIndex.Changes) {
    for node in changes.added { roster.add(node) }
    for (former, successor) in changes.replaced { roster.replace(former, by: successor) }
    for (node, rank) in changes.ranked { roster.rank(node, rank) }
    if changes.terminated > 0 { roster.noteTerminated(count: changes.terminated) }
    addUpFinished()
  }

  /// The subscriptions, in order.
  mutating func snapshot() -> [SubscriptionNode] {
    let nodes = roster.snapshot()
    addUpFinished()
    return nodes
  }

  /// Adds up the accounts of those that have left for good, and releases them.
  private mutating func addUpFinished() {
    guard roster.mayHaveFinished else { return }
    for node in roster.takeFinished() { finished += node.account }
  }

  /// What there is to look into.
  struct Overview: Sendable {
    var topic: Topic
    /// The accounts of those that are gone.
    var finished: Account
    /// All others, those that are leaving included.
    var nodes: [SubscriptionNode]
  }

  /// What there is to look into, for the caller to look off the actor.
  mutating func overview() -> Overview {
    let nodes = roster.allMembers()
    return Overview(topic: topic, finished: finished, nodes: nodes)
  }
}

/// What the hub's actor keeps of one protocol: its subscriptions, as of the last applied changes, and the
/// sum of the accounts of finished ones.
struct TopicRoster {
  let topic: Topic
  /// The number of the last change that was applied.
  private(set) var number = 0
  private var roster = Roster<SubscriptionNode>()
  /// The sums of the accounts of the subscriptions that have left the roster.
  private var finished = Account()
  private var finishedQuestions = QuestionAccount()

  init(topic: Topic) {
    self.topic = topic
  }

  /// Applies changes from the inbox.
  mutating func apply(_ changes: TopicIndex.Changes) {
    number = changes.number
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

  /// Adds up the accounts of finished subscriptions, and releases these.
  private mutating func addUpFinished() {
    guard roster.mayHaveFinished else { return }
    for node in roster.takeFinished() {
      finished += node.account
      var questions = node.questions
      // A call that has just begun finds that it must not.
      questions.answering = 0
      finishedQuestions += questions
    }
  }

  /// A copy of the roster, to be inspected off the actor.
  struct Overview: Sendable {
    var topic: Topic
    /// The sums of the accounts of finished subscriptions.
    var finished: Account
    var finishedQuestions: QuestionAccount
    /// All others, including those that are finishing.
    var nodes: [SubscriptionNode]
  }

  /// The subscriptions and the sum of the accounts of finished ones.
  mutating func overview() -> Overview {
    let nodes = roster.allMembers()
    return Overview(
      topic: topic, finished: finished, finishedQuestions: finishedQuestions, nodes: nodes)
  }
}

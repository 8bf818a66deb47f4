/// What the hub's actor keeps of one protocol, as of the last applied changes: its subscriptions in the order in which
/// they are served, and the sums of the accounts of finished ones.
///
/// Adding is O(1). Sorting and removing are deferred to ``snapshot()``, whose caller goes through all
/// members anyway, or until half of the members are terminated.
///
/// A terminated member is *finishing* while a handler of it runs, and then *finished*: its account is added up, and it
/// is released.
struct Roster: Sendable {
  let topic: Topic
  /// The number of the last change that was applied.
  private(set) var number = 0
  /// Sorted by priority (descending), then serial, unless `isSorted` is false.
  private var members: [SubscriptionNode] = []
  private var isSorted = true
  /// How many of `members` are terminated, at most.
  private var terminatedCount = 0
  /// Terminated members a handler of which was still running at the last check: their accounts are not
  /// final.
  private var finishing = Queue<SubscriptionNode>()
  /// The sum of the accounts of finished members.
  private(set) var finished = Account()
  private(set) var finishedQuestions = QuestionAccount()

  /// How many finishing members, in rotation, each check may look at in vain.
  private static var patience: Int { 4 }

  init(topic: Topic) {
    self.topic = topic
  }

  /// All members that are not finished; first those that are not terminated, in order.
  var nodes: [SubscriptionNode] { members + finishing.all }

  /// Applies changes from the inbox.
  mutating func apply(_ changes: TopicIndex.Changes) {
    number = changes.number
    for node in changes.added { add(node) }
    for (former, successor) in changes.replaced { replace(former, by: successor) }
    for (node, rank) in changes.ranked where node.rank != rank {
      node.rank = rank
      isSorted = false
    }
    noteTerminated(count: changes.terminated)
    if !finishing.isEmpty { checkFinishing() }
  }

  /// The members that are not terminated, in order.
  ///
  /// - Complexity: O(1) if nothing has changed since the last call, otherwise O(*n*), or O(*n* log *n*)
  ///   if members have to be sorted.
  mutating func snapshot() -> [SubscriptionNode] {
    if terminatedCount > 0 { compact() }
    if !isSorted {
      members.sort(by: Self.precedes)
      isSorted = true
    }
    if !finishing.isEmpty { checkFinishing() }
    return members
  }

  /// A copy, brought up to date, to be inspected off the actor.
  mutating func overview() -> Roster {
    _ = snapshot()
    return self
  }

  private mutating func add(_ member: SubscriptionNode) {
    if let last = members.last, !Self.precedes(last, member) { isSorted = false }
    members.append(member)
  }

  /// Adds a member in the place of one that was terminated.
  ///
  /// - Complexity: O(log *n*) if both have the same rank and the order has not changed otherwise.
  private mutating func replace(_ former: SubscriptionNode, by member: SubscriptionNode) {
    if isSorted, former.rank == member.rank {
      let index = members.partitioningIndex { !Self.precedes($0, former) }
      if index < members.count, members[index] === former {
        members[index] = member
        return moveOut(former)
      }
    }
    // The former one may have been removed already.
    add(member)
    noteTerminated(count: 1)
  }

  private mutating func noteTerminated(count: Int) {
    terminatedCount += count
    if terminatedCount * 2 > members.count { compact() }
  }

  private mutating func compact() {
    let former = members
    members = []
    members.reserveCapacity(Swift.max(0, former.count - terminatedCount))
    for member in former {
      if member.isOpen { members.append(member) } else { moveOut(member) }
    }
    terminatedCount = 0
  }

  private mutating func moveOut(_ member: SubscriptionNode) {
    guard member.isIdle else { return finishing.append(member) }
    finished += member.account
    var questions = member.questions
    // A call that has just begun finds that it must not.
    questions.answering = 0
    finishedQuestions += questions
  }

  /// Looks which members have finished since the last check.
  ///
  /// One check need not find all of them; repeated checks do. Not inlined: there is seldom one, and each snapshot would
  /// be dearer.
  ///
  /// - Complexity: O(*d*) in the *d* that it finds, however many are finishing.
  @inline(never)
  private mutating func checkFinishing() {
    var patience = min(Self.patience, finishing.count)
    while patience > 0, let member = finishing.popFirst() {
      if !member.isIdle { patience -= 1 }
      moveOut(member)
    }
  }

  private static func precedes(_ one: SubscriptionNode, _ other: SubscriptionNode) -> Bool {
    one.rank == other.rank ? one.serial < other.serial : one.rank > other.rank
  }
}

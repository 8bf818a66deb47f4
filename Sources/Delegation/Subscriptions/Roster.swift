/// What a roster needs to know of its members.
protocol RosterMember: AnyObject, SendableMetatype {
  /// Higher is served first.
  ///
  /// Only the roster changes it, because its order depends on it.
  var rank: Int { get set }
  /// The order of subscription, for ties.
  var serial: Int { get }
  /// Whether the subscription was terminated.
  var isTerminated: Bool { get }
  /// Whether none of its handlers runs and its account is final, once it is terminated.
  var isIdle: Bool { get }
}

/// The subscriptions of one protocol in the order in which they are served.
///
/// Adding is O(1). Sorting and removing are deferred to ``snapshot()``, whose caller goes through all
/// members anyway, or until half of the members are terminated.
///
/// A terminated member is *finishing* while a handler of it runs, and then *finished*.
struct Roster<Member: RosterMember> {
  /// Sorted by rank (descending), then serial, unless `isSorted` is false.
  private var members: [Member] = []
  private var isSorted = true
  /// How many of `members` are terminated, at most.
  private var terminatedCount = 0
  /// Terminated members a handler of which was still running at the last check: their accounts are not
  /// final.
  private(set) var finishing = Queue<Member>()
  /// Terminated members with final accounts, to be collected with ``takeFinished()``.
  private var finished: [Member] = []

  /// How many finishing members, in rotation, each call of ``takeFinished()`` may check in vain.
  private static var patience: Int { 4 }

  /// All members whose accounts have not been collected; first those that are not terminated, in order.
  mutating func allMembers() -> [Member] { snapshot() + finishing.all + finished }

  /// Adds a member.
  mutating func add(_ member: Member) {
    if let last = members.last, !Self.precedes(last, member) { isSorted = false }
    members.append(member)
  }

  /// Adds a member in the place of one that was terminated.
  ///
  /// - Complexity: O(log *n*) if both have the same rank and the order has not changed otherwise.
  mutating func replace(_ former: Member, by member: Member) {
    if isSorted, former.rank == member.rank, let index = index(of: former) {
      members[index] = member
      moveOut([former])
    } else {
      // The former one may have been removed already.
      add(member)
      noteTerminated(count: 1)
    }
  }

  /// Gives a member another rank.
  mutating func rank(_ member: Member, _ rank: Int) {
    if member.rank == rank { return }
    member.rank = rank
    isSorted = false
  }

  /// Notes that members were terminated.
  mutating func noteTerminated(count: Int) {
    terminatedCount += count
    if terminatedCount * 2 > members.count { compact() }
  }

  /// The members that are not terminated, in order.
  ///
  /// - Complexity: O(1) if nothing has changed since the last call, otherwise O(*n*), or O(*n* log *n*)
  ///   if members have to be sorted.
  mutating func snapshot() -> [Member] {
    if terminatedCount > 0 { compact() }
    if !isSorted {
      members.sort(by: Self.precedes)
      isSorted = true
    }
    return members
  }

  /// Whether ``takeFinished()`` may return any members.
  var mayHaveFinished: Bool { !finishing.isEmpty || !finished.isEmpty }

  /// Takes out members that have finished since the last call, for their accounts to be added up.
  ///
  /// One call need not find all of them; repeated calls do.
  ///
  /// - Complexity: O(*d*) in the *d* that it returns, however many are finishing.
  mutating func takeFinished() -> [Member] {
    var patience = min(Self.patience, finishing.count)
    while patience > 0, let member = finishing.popFirst() {
      if member.isIdle {
        finished.append(member)
      } else {
        finishing.append(member)
        patience -= 1
      }
    }
    defer { finished = [] }
    return finished
  }

  private static func precedes(_ one: Member, _ other: Member) -> Bool {
    one.rank == other.rank ? one.serial < other.serial : one.rank > other.rank
  }

  /// The index of a member, if the members are sorted.
  private func index(of member: Member) -> Int? {
    let index = members.partitioningIndex { !Self.precedes($0, member) }
    return index < members.count && members[index] === member ? index : nil
  }

  private mutating func compact() {
    var kept: [Member] = []
    kept.reserveCapacity(Swift.max(0, members.count - terminatedCount))
    var terminated: [Member] = []
    for member in members {
      if member.isTerminated { terminated.append(member) } else { kept.append(member) }
    }
    members = kept
    terminatedCount = 0
    moveOut(terminated)
  }

  private mutating func moveOut(_ terminated: [Member]) {
    for member in terminated {
      if member.isIdle { finished.append(member) } else { finishing.append(member) }
    }
  }
}

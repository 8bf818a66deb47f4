/// What a roster needs to know of its members.
protocol RosterMember: AnyObject, SendableMetatype {
  /// Higher is served first.
  var rank: Int { get }
  /// The order of subscription, for ties.
  var serial: Int { get }
  /// The subscription has ended.
  var isGone: Bool { get }
  /// Nothing of it is being handled, so its account is final once it is gone.
  var isAtRest: Bool { get }
}

/// The subscriptions of one protocol in the order in which they are served.
///
/// Adding is O(1); sorting and removing wait until somebody asks for ``snapshot()``, whose user goes
/// through all members anyway, or until half of the members are gone.
struct Roster<Member: RosterMember> {
  /// Sorted by rank (descending), then serial, unless `isSorted` is false.
  private var members: [Member] = []
  private var isSorted = true
  /// How many of `members` are gone, at most.
  private var departures = 0
  /// Gone, but a handler of theirs is still running: their accounts are not final.
  private(set) var leaving: [Member] = []
  /// Gone and at rest, to be collected with ``takeDeparted()``.
  private var departed: [Member] = []

  /// All whose account is not settled yet, first those that are not gone, in order.
  mutating func everyone() -> [Member] { snapshot() + leaving + departed }

  /// Adds a member.
  mutating func add(_ member: Member) {
    if let last = members.last, !Self.precedes(last, member) { isSorted = false }
    members.append(member)
  }

  /// Learns that ranks have changed.
  mutating func reorder() {
    isSorted = false
  }

  /// Learns that members are gone.
  mutating func remove(count: Int) {
    departures += count
    if departures * 2 > members.count { compact() }
  }

  /// The members that are not gone, in order.
  ///
  /// - Complexity: O(1) if nothing has changed since the last time, otherwise O(*n*), or
  ///   O(*n* log *n*) if the order of ranks has.
  mutating func snapshot() -> [Member] {
    if departures > 0 { compact() }
    if !isSorted {
      members.sort(by: Self.precedes)
      isSorted = true
    }
    return members
  }

  /// Whether ``takeDeparted()`` may have any to give.
  var hasDepartures: Bool { !leaving.isEmpty || !departed.isEmpty }

  /// Those that are gone for good since the last time, for their accounts to be added up.
  mutating func takeDeparted() -> [Member] {
    if !leaving.isEmpty {
      let wereLeaving = leaving
      leaving = []
      sortOut(wereLeaving)
    }
    defer { departed = [] }
    return departed
  }

  private static func precedes(_ one: Member, _ other: Member) -> Bool {
    one.rank == other.rank ? one.serial < other.serial : one.rank > other.rank
  }

  private mutating func compact() {
    var kept: [Member] = []
    kept.reserveCapacity(Swift.max(0, members.count - departures))
    var gone: [Member] = []
    for member in members {
      if member.isGone { gone.append(member) } else { kept.append(member) }
    }
    members = kept
    departures = 0
    sortOut(gone)
  }

  private mutating func sortOut(_ gone: [Member]) {
    for member in gone {
      if member.isAtRest { departed.append(member) } else { leaving.append(member) }
    }
  }
}

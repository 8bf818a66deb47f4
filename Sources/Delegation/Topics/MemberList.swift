/// The open subscriptions of one protocol in the order in which they are served: one list with one version.
///
/// A change takes constant time. Who needs the order takes what there is, merges it outside the lock, and puts the
/// result back; it is the present one as long as nothing has changed.
///
/// Invariant: `ordered` and `added`, one after the other, have every open subscription once. An ended one is dropped by
/// the next merge.
struct MemberList: Sendable {
  private var version = 0
  /// The version that `ordered` is of.
  private var merged = 0
  private var ordered: [SubscriptionNode] = []
  /// Those that were added after these.
  private var added: [SubscriptionNode] = []
  /// How many have ended since the last merge.
  private(set) var endedCount = 0
  /// The last version whose change was not an addition at the end.
  private var lastDisorder = 0

  /// All in order, if nothing has changed since the last merge.
  var snapshot: [SubscriptionNode]? { version == merged ? ordered : nil }

  mutating func add(_ node: SubscriptionNode) {
    version += 1
    // The last one of a list that is not in order need not be the last one of all.
    if let last = added.last ?? ordered.last,
      lastDisorder > merged || !Self.precedes(last.order, node.order)
    {
      lastDisorder = version
    }
    added.append(node)
  }

  /// Notes that a subscription has ended.
  mutating func noteEnd() {
    version += 1
    endedCount += 1
  }

  /// Empties the list, as nobody is subscribed.
  ///
  /// - Returns: what was in it, for the caller to release outside the lock.
  mutating func removeAll() -> Removed {
    if endedCount == 0 { return ([], []) }
    defer { (ordered, added, endedCount, merged) = ([], [], 0, version) }
    return (ordered, added)
  }

  typealias Removed = ([SubscriptionNode], [SubscriptionNode])

  /// Whether the order may have changed since the last merge.
  private var mustSort: Bool { lastDisorder > merged }

  /// Makes this, which is a copy that was taken under the lock, one to put back: drops those that have ended, and sorts
  /// if the order may have changed.
  ///
  /// - Returns: all in order.
  /// - Complexity: O(*n*), or O(*n* log *n*) if it sorts.
  mutating func merge() -> [SubscriptionNode] {
    var nodes: [SubscriptionNode] = []
    // The last one of each place among those that were added.
    lazy var last = Dictionary(added.map { ($0.serial, $0) }, uniquingKeysWith: { $1 })
    // One that was replaced stays until the list has the one that has its place: a caller finds that one by it.
    func stays(_ node: SubscriptionNode) -> Bool {
      node.isOpen || node.isReplaced && last[node.serial].map { $0 === node } ?? true
    }
    if endedCount > 0 {
      nodes.reserveCapacity(ordered.count)
      // Run by run: to append one by one takes twice as long.
      var start = 0
      for index in ordered.indices where !stays(ordered[index]) {
        nodes += ordered[start..<index]
        start = index + 1
      }
      nodes += ordered[start...]
    } else {
      nodes = ordered
    }
    nodes += added.filter(stays)
    ordered = mustSort ? Self.sorted(nodes) : nodes
    return ordered
  }

  /// Puts a merged copy back, unless another one was since it was taken.
  ///
  /// - Parameter copy: the copy; it has then the list in whose place it is, for the caller to release outside the lock.
  mutating func put(_ copy: inout MemberList) {
    guard merged == copy.merged else { return }
    added.removeFirst(copy.added.count)
    endedCount -= copy.endedCount
    merged = copy.version
    swap(&ordered, &copy.ordered)
  }

  /// Subscriptions in order.
  static func sorted(_ nodes: some Sequence<SubscriptionNode>) -> [SubscriptionNode] {
    let nodes = Array(nodes)
    return indices(of: nodes.map { $0.order }).map { nodes[$0] }
  }

  typealias Order = (priority: Int, serial: Int)

  /// The indices in order; for all that is sorted, as each sort is much code.
  static func indices(of orders: [Order]) -> [Int] {
    orders.indices.sorted { precedes(orders[$0], orders[$1]) }
  }

  private static func precedes(_ one: Order, _ other: Order) -> Bool {
    one.priority == other.priority ? one.serial < other.serial : one.priority > other.priority
  }
}

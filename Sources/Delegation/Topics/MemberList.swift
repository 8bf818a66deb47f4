/// The open subscriptions of one protocol in the order in which they are served: one list with one version.
///
/// A change takes constant time. A call that needs the order copies the list under the lock, merges the copy outside,
/// and puts it back; other calls share the result until something changes.
///
/// Invariant: `ordered` and `added` together have every open subscription once. The next merge drops the ended ones.
struct MemberList: Sendable {
  private var version = 0
  /// The version of the last merge, which has made `ordered`.
  private var merged = 0
  private var ordered: [SubscriptionNode] = []
  /// The subscriptions that were added since the last merge.
  private var added: [SubscriptionNode] = []
  /// How many subscriptions have ended since the last merge.
  private(set) var endedCount = 0
  /// The version of the last addition that may be out of order; a merge sorts if this version is later than `merged`.
  private var lastDisorder = 0

  /// `ordered`, if nothing has changed since the last merge.
  private(set) var snapshot: [SubscriptionNode]? = []

  mutating func add(_ node: SubscriptionNode) {
    version += 1
    snapshot = nil
    // While the list is not sorted, its last subscription need not be the last in order.
    if let last = added.last ?? ordered.last,
      lastDisorder > merged || !Self.precedes(last.order, node.order)
    {
      lastDisorder = version
    }
    added.append(node)
  }

  mutating func noteEnd() {
    version += 1
    snapshot = nil
    endedCount += 1
  }

  /// Empties the list, once nobody is subscribed.
  ///
  /// - Returns: what was in it, for the caller to release outside the lock.
  mutating func removeAll() -> Removed {
    // If nobody has ended since the last merge either, the list is empty.
    if endedCount == 0 { return ([], []) }
    // `merged` changes, so that no copy that was taken before is put back.
    defer { self = MemberList(version: version, merged: version) }
    return (ordered, added)
  }

  typealias Removed = ([SubscriptionNode], [SubscriptionNode])

  /// Merges a copy that was taken under the lock: drops what has ended, and sorts if the order may have changed.
  ///
  /// - Returns: the subscriptions in order.
  /// - Complexity: O(*n*), or O(*n* log *n*) if it sorts.
  mutating func merge() -> [SubscriptionNode] {
    var nodes: [SubscriptionNode] = []
    // The subscription that was added last at each place.
    lazy var last = Dictionary(added.map { ($0.serial, $0) }, uniquingKeysWith: { $1 })
    // A replaced subscription stays until its replacement is in the list: callers find the replacement by the replaced
    // one's serial number.
    func stays(_ node: SubscriptionNode) -> Bool {
      node.isOpen || node.isReplaced && last[node.serial].map { $0 === node } ?? true
    }
    if endedCount > 0 {
      nodes.reserveCapacity(ordered.count)
      // Whole runs are appended: one by one takes twice as long.
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
    ordered = lastDisorder > merged ? Self.sorted(nodes) : nodes
    return ordered
  }

  /// Puts a merged copy back, unless another one was put back since `copy` was taken.
  ///
  /// - Parameter copy: the copy; afterwards the former list, for the caller to release outside the lock.
  mutating func put(_ copy: inout MemberList) {
    guard merged == copy.merged else { return }
    added.removeFirst(copy.added.count)
    endedCount -= copy.endedCount
    merged = copy.version
    swap(&ordered, &copy.ordered)
    if version == merged { snapshot = ordered }
  }

  static func sorted(_ nodes: some Sequence<SubscriptionNode>) -> [SubscriptionNode] {
    let nodes = Array(nodes)
    return indices(of: nodes.map { $0.order }).map { nodes[$0] }
  }

  typealias Order = (priority: Int, serial: Int)

  /// Sorts indices by order; one function for all, because each specialization of `sorted` is much code.
  static func indices(of orders: [Order]) -> [Int] {
    orders.indices.sorted { precedes(orders[$0], orders[$1]) }
  }

  private static func precedes(_ one: Order, _ other: Order) -> Bool {
    one.priority == other.priority ? one.serial < other.serial : one.priority > other.priority
  }
}

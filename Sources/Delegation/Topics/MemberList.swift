/// The open subscriptions of one protocol in the order in which they are served: one list with one version.
///
/// A change takes constant time. A call that needs the order copies the list under the topic's lock, merges the copy
/// outside, and puts it back; other calls share the result until something changes.
///
/// Invariant: each open subscription is once in `ordered` or `added`. Ended ones stay there until the next merge.
struct MemberList: Sendable {
  private var version = 0
  /// The version of the list that was last merged into `ordered`.
  private var merged = 0
  private var ordered: [SubscriptionNode] = []
  /// The subscriptions that no merge has moved to `ordered` yet.
  private var added: [SubscriptionNode] = []
  /// How many subscriptions have ended since the last merge.
  private(set) var endedCount = 0
  /// The version of the last addition that may be out of order; a merge sorts if this version is later than `merged`.
  private var lastDisorder = 0

  /// `ordered`, if nothing has changed since the last merge; otherwise `nil`.
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

  /// Empties the list; called when nobody is subscribed.
  ///
  /// - Returns: what was in the list, for the caller to release outside the lock.
  mutating func removeAll() -> Removed {
    // If nobody has ended since the last merge, the list is already empty.
    if endedCount == 0 { return ([], []) }
    // `merged` changes, so that `put` refuses each copy that was taken before.
    defer { self = MemberList(version: version, merged: version) }
    return (ordered, added)
  }

  typealias Removed = ([SubscriptionNode], [SubscriptionNode])

  /// Merges this copy of the list: appends what was added, drops what has ended, and sorts if the order may have
  /// changed.
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
      // Whole runs of subscriptions are appended: one by one takes twice as long.
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
  /// - Parameter copy: the copy; gets the former `ordered`, for the caller to release outside the lock.
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

  /// The indices of `orders`, sorted by order; not generic, because each specialization of a sort is much code.
  static func indices(of orders: [Order]) -> [Int] {
    orders.indices.sorted { precedes(orders[$0], orders[$1]) }
  }

  private static func precedes(_ one: Order, _ other: Order) -> Bool {
    one.priority == other.priority ? one.serial < other.serial : one.priority > other.priority
  }
}

/// What a list of members needs of one.
protocol Ranked: AnyObject, Sendable {
  var isOpen: Bool { get }
  /// Higher is served first.
  var rank: Int { get set }
  /// Where it is served: by rank, then by serial.
  var order: (rank: Int, serial: Int) { get }
}

/// The open subscriptions of one protocol in the order in which they are served: one list with one version.
///
/// A change takes constant time. Who needs the order takes what there is, merges it outside the lock, and puts the
/// result back; it is the present one as long as nothing has changed.
///
/// Invariant: `ordered`, `parts` and `added`, one after another, have every open subscription once. An ended one is
/// dropped by the next merge.
struct MemberList<Member: Ranked>: Sendable {
  /// What has happened up to a version.
  fileprivate struct Mark: Sendable {
    var version = 0
    /// How many have ended.
    var ended = 0
    /// How many parts have been made.
    var parts = 0
    /// How often a priority was changed.
    var rankings = 0
  }

  private var present = Mark()
  /// The mark that `ordered` is of.
  private var merged = Mark()
  private var ordered: [Member] = []
  /// Those that were added after these, in parts that do not change any more: others may keep them.
  private var parts: [[Member]] = []
  private var added: [Member] = []
  /// The last version whose change was not an addition at the end.
  private var lastDisorder = 0

  /// All in order, if nothing has changed since the last merge.
  var snapshot: [Member]? { present.version == merged.version ? ordered : nil }

  /// How many have ended since the last merge.
  var endedCount: Int { present.ended - merged.ended }

  mutating func add(_ node: Member) {
    present.version += 1
    let last = added.last ?? parts.last?.last ?? ordered.last
    // The last one of a list that is not in order need not be the last one of all.
    if let last, lastDisorder > merged.version || !Self.precedes(last.order, node.order) {
      lastDisorder = present.version
    }
    added.append(node)
  }

  /// Notes that a subscription has ended.
  mutating func noteEnd() {
    present.version += 1
    present.ended += 1
  }

  /// Changes a subscription's priority.
  mutating func rank(_ node: Member, _ rank: Int) {
    if node.rank == rank { return }
    node.rank = rank
    present.version += 1
    present.rankings += 1
    lastDisorder = present.version
  }

  /// A list that is merged outside the lock.
  struct Draft: Sendable {
    fileprivate let mark: Mark
    fileprivate let mustDrop: Bool
    fileprivate let mustSort: Bool
    /// All; once it is put back, the list in whose place it is, for the caller to release outside the lock.
    fileprivate var former: [Member]
    private let parts: [[Member]]
    private(set) var nodes: [Member] = []

    fileprivate init(_ list: MemberList) {
      (former, parts, mark) = (list.ordered, list.parts, list.present)
      mustDrop = list.endedCount > 0
      mustSort = list.lastDisorder > list.merged.version
    }

    /// Drops those that have ended, and sorts if the order may have changed.
    ///
    /// - Complexity: O(*n*), or O(*n* log *n*) if it sorts.
    mutating func merge() {
      if mustDrop {
        nodes.reserveCapacity(former.count)
        // Run by run: to append one by one takes twice as long.
        var start = 0
        for index in former.indices where !former[index].isOpen {
          nodes += former[start..<index]
          start = index + 1
        }
        nodes += former[start...]
      } else {
        nodes = former
      }
      for part in parts { nodes += part.lazy.filter { $0.isOpen } }
      if mustSort { nodes = MemberList.sorted(nodes) }
    }
  }

  /// Takes what there is, to be merged.
  mutating func take() -> Draft {
    if !added.isEmpty {
      parts.append(added)
      added = []
      present.parts += 1
    }
    return Draft(self)
  }

  /// Puts a merged list back, unless there is a newer one.
  ///
  /// - Returns: whether it is as of one moment: not if it was sorted while a priority was changed.
  mutating func put(_ draft: inout Draft) -> Bool {
    if draft.mustSort, draft.mark.rankings != present.rankings { return false }
    guard draft.mark.version > merged.version else { return true }
    parts.removeFirst(draft.mark.parts - merged.parts)
    merged = draft.mark
    draft.former = draft.nodes
    swap(&ordered, &draft.former)
    return true
  }

  /// Subscriptions in order.
  static func sorted(_ nodes: some Sequence<Member>) -> [Member] {
    // Each priority is read once: a sort by what changes meanwhile would not end in any order.
    nodes.map { ($0.order, $0) }.sorted { precedes($0.0, $1.0) }.map(\.1)
  }

  private typealias Order = (rank: Int, serial: Int)

  private static func precedes(_ one: Order, _ other: Order) -> Bool {
    one.rank == other.rank ? one.serial < other.serial : one.rank > other.rank
  }
}

/// The subscriptions of one fan-out, given out one at a time and in order.
///
/// Invariant: each position is given out once, and none after ``halt()``. Who gets the last one releases
/// the list: a handler that is suspended then keeps one subscription and not all.
@usableFromInline
struct Cursor: Sendable {
  /// A subscription that a worker has to itself, in this fan-out.
  @usableFromInline
  struct Claim: Sendable {
    @usableFromInline
    let node: SubscriptionNode
    @usableFromInline
    let position: Int
    /// Nothing is left after it.
    @usableFromInline
    let isLast: Bool

    @inlinable
    init(node: SubscriptionNode, position: Int, isLast: Bool) {
      self.node = node
      self.position = position
      self.isLast = isLast
    }
  }

  @usableFromInline
  var nodes: [SubscriptionNode]
  /// The next position to give out.
  @usableFromInline
  var next = 0
  @usableFromInline
  var isHalted = false
  /// Those that were given out to be asked elsewhere, where nobody has begun yet, by position; `nil` as long as
  /// there have been none.
  private var sentElsewhere: [Int: SubscriptionNode]?
  /// Which of the workers asks for their standby.
  private var request = StandbyRequest.none

  init(_ nodes: consuming [SubscriptionNode]) {
    self.nodes = nodes
  }

  /// How many have not been given out.
  @inlinable
  var unclaimed: Int { nodes.isEmpty ? 0 : nodes.count - next }

  /// Gives out the next subscription; after the last one there is the list to ``release()``.
  @inlinable
  mutating func claim() -> Claim? {
    guard next < nodes.count else { return nil }
    defer { next += 1 }
    return Claim(node: nodes[next], position: next, isLast: next == nodes.count - 1)
  }

  /// Whether a worker that claims no more has to ask for another one.
  ///
  /// Not while one asks that has yet to claim: it goes on in its place.
  var needsWorker: Bool { unclaimed > 0 && request == .none }

  /// Notes that a standby begins, which will claim.
  ///
  /// - Returns: whether it has to ask for the next, before it claims.
  mutating func beginStandby() -> Bool { request.begin(ifNeeded: unclaimed > 1) }

  /// Notes that a standby has asked for the next.
  ///
  /// - Returns: whether it has to ask again.
  mutating func isToAskAgain() -> Bool { request.isToRepeat(ifNeeded: unclaimed > 1) }

  /// Gives out nothing more.
  ///
  /// - Returns: what is given up by that, to be released outside the lock.
  mutating func halt() -> [SubscriptionNode] {
    isHalted = true
    guard let waiting = sentElsewhere.take() else { return release() }
    return release() + waiting.values
  }

  /// Takes out the list, to be released outside the lock.
  mutating func release() -> [SubscriptionNode] {
    defer { nodes = [] }
    return nodes
  }

  /// Notes that a subscription that was given out waits for an executor of its own.
  mutating func sendElsewhere(_ claim: Claim) {
    sentElsewhere = sentElsewhere ?? [:]
    sentElsewhere?[claim.position] = claim.node
  }

  /// Notes that one that waited for its executor is now to be asked.
  ///
  /// - Returns: whether it may be, for the fan-out has not been halted.
  mutating func arrive(_ position: Int) -> Bool {
    sentElsewhere?[position] = nil
    return !isHalted
  }

  /// The subscription at a position, if no handler has begun there; only before ``halt()``.
  func notBegun(_ position: Int) -> SubscriptionNode? {
    position < next ? sentElsewhere?[position] : nodes[position]
  }
}

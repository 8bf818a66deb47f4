/// The subscriptions of one fan-out or round, which workers claim one at a time and in order.
///
/// Invariant: each position is claimed once, and none after ``halt()``. The worker that claims the last one
/// releases the list, so that a suspended handler keeps one subscription and not all.
@usableFromInline
struct Cursor: StandbyWork {
  /// A subscription that one worker has claimed.
  @frozen
  @usableFromInline
  struct Claim: Sendable {
    @usableFromInline
    let node: SubscriptionNode
    @usableFromInline
    let position: Int
    /// Whether it is the last one of the list.
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
  /// The next position to be claimed.
  @usableFromInline
  var next = 0
  @usableFromInline
  var isHalted = false
  /// Claimed subscriptions that were sent to their own executors and have not begun there, by position.
  ///
  /// It is `nil` until there is one.
  private var sentToExecutor: [Int: SubscriptionNode]?
  /// Which of the workers requests their standby.
  var request = StandbyRequest.none

  @usableFromInline
  init(_ nodes: consuming [SubscriptionNode]) {
    self.nodes = nodes
  }

  /// How many have not been claimed.
  @inlinable
  var unclaimed: Int { nodes.isEmpty ? 0 : nodes.count - next }

  /// The subscription that is asked, if it is the only one.
  var sole: SubscriptionNode? { nodes.count == 1 ? nodes[0] : nil }

  /// Claims the next subscription; after the last one, the caller has to ``release()`` the list.
  @inlinable
  mutating func claim() -> Claim? {
    guard next < nodes.count else { return nil }
    defer { next += 1 }
    return Claim(node: nodes[next], position: next, isLast: next == nodes.count - 1)
  }

  /// Whether a worker that claims no more has to request another one.
  ///
  /// Not while one requests that has yet to claim: it goes on in its place.
  var needsWorker: Bool { unclaimed > 0 && request == .none }

  /// Ends the claiming.
  ///
  /// - Returns: the subscriptions that have not begun, to be released outside the lock.
  mutating func halt() -> [SubscriptionNode] {
    isHalted = true
    guard let waiting = sentToExecutor.take() else { return release() }
    // A new array: the thread sanitizer does not see that the roster has released this one before.
    return Array(waiting.values) + release()
  }

  /// Takes out the list, to be released outside the lock.
  @inlinable
  mutating func release() -> [SubscriptionNode] {
    defer { nodes = [] }
    return nodes
  }

  /// Notes that a claimed subscription is sent to its own executor.
  mutating func sendToExecutor(_ claim: Claim) {
    sentToExecutor = sentToExecutor ?? [:]
    sentToExecutor?[claim.position] = claim.node
  }

  /// Notes that a subscription begins on its own executor.
  ///
  /// - Returns: whether it may begin: not if the cursor was halted, or if it has begun already.
  mutating func beginOnExecutor(_ position: Int) -> Bool {
    sentToExecutor?.removeValue(forKey: position) != nil && !isHalted
  }

  /// The subscription at a position, if its handler has not begun; only before ``halt()``.
  func notBegun(_ position: Int) -> SubscriptionNode? {
    position < next ? sentToExecutor?[position] : nodes[position]
  }
}

/// The subscriptions of one lane, round or question in turn, which are claimed one at a time and in order.
///
/// Invariant: each position is claimed once, and none after ``halt()``. The worker that claims the last one
/// releases the list, so that a suspended handler keeps one subscription and not all.
@usableFromInline
struct Cursor: Sendable {
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
    /// Whether it was counted as asked when it was claimed.
    @usableFromInline
    var isCounted = false

    /// Counts it as asked.
    mutating func count() {
      isCounted = true
      _ = node.countCall()
    }
  }

  @usableFromInline
  var nodes: [SubscriptionNode]
  /// The next position to be claimed.
  @usableFromInline
  var next: Int
  @usableFromInline
  var isHalted = false
  /// The next position when the deadline came; `.max` before.
  private var end = Int.max
  /// Claimed subscriptions that are sent to their own executors and have not begun there, by position.
  ///
  /// From the deadline on, also those that have begun and are not late.
  private var sent: [Int: SubscriptionNode] = [:]
  /// Whether a standby has been requested that has not begun.
  var hasStandby = false

  @usableFromInline
  init(_ nodes: consuming [SubscriptionNode], from first: Int = 0) {
    self.nodes = nodes
    next = first
  }

  /// How many have not been claimed.
  @inlinable
  var unclaimed: Int { nodes.isEmpty ? 0 : nodes.count - next }

  /// Claims the next subscription; after the last one, the caller has to ``release()`` the list.
  @usableFromInline
  @inline(__always)
  mutating func claim() -> Claim? {
    guard next < nodes.count else { return nil }
    defer { next += 1 }
    return Claim(node: nodes[next], position: next, isLast: next == nodes.count - 1)
  }

  /// Adds a subscription at the end.
  mutating func append(_ node: SubscriptionNode) {
    if nodes.isEmpty { next = 0 }
    nodes.append(node)
  }

  /// Ends the claiming.
  ///
  /// - Returns: the subscriptions that have not begun, to be released outside the lock.
  mutating func halt() -> [SubscriptionNode] {
    isHalted = true
    return release()
  }

  /// Ends the claiming at the deadline; ``notBegun(_:)`` stays as it is.
  mutating func expire() {
    if isExpired { return }
    (isHalted, end, next) = (true, next, nodes.count)
  }

  /// Whether the deadline has ended the claiming.
  var isExpired: Bool { end != .max }

  /// Notes that a subscription that has begun is not late: it has ended.
  mutating func spare(_ node: SubscriptionNode, at position: Int) { sent[position] = node }

  /// Whether a subscription that had begun when the deadline came is late.
  func isLate(_ position: Int) -> Bool { isExpired && sent[position] == nil }

  /// Takes out the list, to be released outside the lock.
  @inlinable
  mutating func release() -> [SubscriptionNode] {
    defer { nodes = [] }
    return nodes
  }

  /// Notes that a claimed subscription is sent to its own executor.
  mutating func send(_ claim: Claim) {
    sent[claim.position] = claim.node
  }

  /// Notes that a subscription begins on its own executor.
  ///
  /// - Returns: whether it may begin.
  mutating func beginSent(_ position: Int) -> Bool {
    // One that comes after the deadline has not begun, and the deadline has yet to find that.
    if isHalted { return false }
    sent[position] = nil
    return true
  }

  /// The subscription at a position, if its handler has not begun; only before ``halt()``.
  func notBegun(_ position: Int) -> SubscriptionNode? {
    position < (isExpired ? end : next) ? sent[position] : nodes[position]
  }
}

/// What the workers of a lane or a round share under its lock: the subscriptions that they claim.
///
/// While one is unclaimed, a *standby* is there: a worker that has been requested and has claimed nothing. A worker
/// that begins with more than one left requests the next standby before it claims. What an executor does within
/// `enqueue` so delays nothing that is claimed.
protocol Claimable: Sendable {
  var cursor: Cursor { get set }

  /// Notes that a subscription is claimed, in the same section.
  mutating func note(_ claim: inout Cursor.Claim)
}

extension Claimable {
  mutating func note(_ claim: inout Cursor.Claim) {}

  /// Claims the next subscription; after the last one, the list has to be released.
  @inline(__always)
  mutating func claim() -> Cursor.Claim? {
    guard var claim = cursor.claim() else { return nil }
    note(&claim)
    return claim
  }
}

extension Lock where State: Claimable {
  /// Claims the next subscription; `nil` if none is left.
  func claim() -> Cursor.Claim? {
    let claim = withLock { $0.claim() }
    if let claim, claim.isLast { releaseList() }
    return claim
  }

  /// Releases the list, unless something has been added to it.
  ///
  /// For who has claimed the last one; not in that section, which would be dearer for each claim.
  @inline(never)
  func releaseList() {
    let list = withLock { $0.cursor.unclaimed == 0 ? $0.cursor.release() : [] }
    withExtendedLifetime(list) {}
  }

  /// Claims the first subscription of a worker that begins, after its standby has been requested if another one is
  /// left.
  func begin(requestingBy requestStandby: () -> Void) -> Cursor.Claim? {
    let (mustRequest, claim) = withLock { state -> (Bool, Cursor.Claim?) in
      state.cursor.hasStandby = state.cursor.unclaimed > 1
      return state.cursor.hasStandby ? (true, nil) : (false, state.claim())
    }
    if mustRequest {
      requestStandby()
      return self.claim()
    }
    if let claim, claim.isLast { releaseList() }
    return claim
  }

  /// Requests a standby if there is none, and something is unclaimed after a change.
  func provideStandby(
    after change: (inout Cursor) -> Void = { _ in }, requestingBy requestStandby: () -> Void
  ) {
    let mustRequest = withLock { state in
      change(&state.cursor)
      if state.cursor.hasStandby || state.cursor.unclaimed == 0 { return false }
      state.cursor.hasStandby = true
      return true
    }
    if mustRequest { requestStandby() }
  }
}

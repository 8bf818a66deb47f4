/// The subscriptions of one lane, round or question in turn, which are claimed one at a time and in order.
///
/// Invariant: each position is claimed once, and none after ``release()``. The worker that claims the last one
/// releases the list, so that a suspended handler keeps one subscription and not all.
@usableFromInline
struct Cursor: Sendable {
  /// A subscription that one worker has claimed.
  @frozen
  @usableFromInline
  struct Claim: Sendable {
    @usableFromInline
    var node: SubscriptionNode
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

  /// Takes out the list, to be released outside the lock; this ends the claiming.
  @inlinable
  mutating func release() -> [SubscriptionNode] {
    defer { nodes = [] }
    return nodes
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
  func provideStandby(requestingBy requestStandby: () -> Void) {
    let mustRequest = withLock { state in
      if state.cursor.hasStandby || state.cursor.unclaimed == 0 { return false }
      state.cursor.hasStandby = true
      return true
    }
    if mustRequest { requestStandby() }
  }
}

/// The subscriptions of one delivery or question, which workers claim one at a time and in order.
///
/// Invariant: each position is claimed at most once, and none after ``release()``. The worker that claims the last
/// position releases the list, so that a suspended handler keeps alive one subscription and not all.
@usableFromInline
struct WorkQueue: Sendable {
  /// A subscription that one worker has claimed.
  @frozen
  @usableFromInline
  struct Claim: Sendable {
    @usableFromInline
    var node: SubscriptionNode
    @usableFromInline
    let position: Int
    @usableFromInline
    let isLast: Bool
    /// Whether the subscription is counted as asked; a delivery counts none.
    ///
    /// False if the subscription has an executor of its own: the claim has to be sent there, and is counted when its
    /// worker begins.
    @usableFromInline
    var isMarkedAsked: Bool
  }

  @usableFromInline
  var nodes: [SubscriptionNode]
  @usableFromInline
  var next: Int
  /// Whether a spare worker has been requested and has not begun.
  var hasSpare = false
  /// Whether a worker that has begun is requesting the spare worker.
  var isRequesting = false
  /// Whether claims count subscriptions as asked (``Claim/isMarkedAsked``).
  private let marksAsked: Bool

  @usableFromInline
  init(_ nodes: consuming [SubscriptionNode], from first: Int = 0, marksAsked: Bool = false) {
    self.nodes = nodes
    (next, self.marksAsked) = (first, marksAsked)
  }

  @inlinable
  var unclaimed: Int { nodes.isEmpty ? 0 : nodes.count - next }

  /// Claims the next subscription; after the last one, the caller has to ``release()`` the list.
  @usableFromInline
  @inline(__always)
  mutating func claim() -> Claim? {
    guard next < nodes.count else { return nil }
    let (node, position) = (nodes[next], next)
    next += 1
    let isMarkedAsked = marksAsked && !node.hasExecutor
    if isMarkedAsked { _ = node.countCall() }
    return Claim(
      node: node, position: position, isLast: next == nodes.count, isMarkedAsked: isMarkedAsked)
  }

  /// Takes out the list, to be released outside the lock.
  @inlinable
  mutating func release() -> [SubscriptionNode] { exchange(&nodes, with: []) }
}

/// What the workers of a delivery or a question share under its lock: the subscriptions that they claim.
///
/// While a subscription is unclaimed, there is a *spare worker*, which has been requested and has claimed nothing: so
/// tasks grow with suspensions, not with subscribers. A worker that begins with more than one subscription left
/// requests the next spare worker before it claims, so that an executor's `enqueue` delays nothing that is claimed.
///
/// An executor may run the spare worker within `enqueue`. That worker then claims at once and requests nothing:
/// otherwise each worker would run within the `enqueue` of the one before. The worker that requested the spare one
/// requests another, if needed, once `enqueue` has returned.
protocol WorkSharing: Sendable { var work: WorkQueue { get set } }

extension WorkQueue {
  /// Claims the next subscription, unless a spare worker has to be requested before.
  ///
  /// Not inlined: two kinds of locks would each have its code.
  ///
  /// - Parameter isSpare: whether the worker has just begun, so that it is the spare one no longer.
  /// - Returns: whether to request a spare worker and to call again; otherwise the claim, if a subscription is left.
  @inline(never)
  fileprivate mutating func claimOrRequest(
    beginning isSpare: Bool
  ) -> (mustRequest: Bool, claim: Claim?) {
    if isSpare { hasSpare = false }
    if isSpare, isRequesting { return (false, claim()) }
    isRequesting = !hasSpare && unclaimed > 1
    if isRequesting { hasSpare = true }
    return (isRequesting, isRequesting ? nil : claim())
  }
}

extension Lock where State: WorkSharing {
  func claimNext() -> WorkQueue.Claim? {
    let claim = withLock { $0.work.claim() }
    if let claim, claim.isLast { releaseList() }
    return claim
  }

  /// Releases the list, if no subscription is unclaimed.
  ///
  /// Called after the last claim, and not in its section, which would make each claim dearer.
  @inline(never)
  func releaseList() {
    withExtendedLifetime(withLock { $0.work.unclaimed == 0 ? $0.work.release() : [] }) {}
  }

  /// Claims a worker's first subscription, after requesting a spare worker if more than one is left.
  func begin(requestingBy requestSpare: () -> Void) -> WorkQueue.Claim? {
    var isSpare = true
    while true {
      let (mustRequest, claim) = withLock { $0.work.claimOrRequest(beginning: isSpare) }
      if let claim, claim.isLast { releaseList() }
      if !mustRequest { return claim }
      requestSpare()
      isSpare = false
    }
  }

  /// Requests a spare worker if there is none, and a subscription is unclaimed.
  func provideSpare(requestingBy requestSpare: () -> Void) {
    let mustRequest = withLock { state in
      if state.work.hasSpare || state.work.unclaimed == 0 { return false }
      state.work.hasSpare = true
      return true
    }
    if mustRequest { requestSpare() }
  }
}

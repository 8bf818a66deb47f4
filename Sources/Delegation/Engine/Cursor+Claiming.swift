/// What workers share under a lock: subscriptions that they claim, with a standby as long as one is unclaimed.
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
      state.cursor.request.begin()
      // In one section: whoever requests meanwhile need not request again for what this worker claims.
      if state.cursor.request.start(ifNeeded: state.cursor.unclaimed > 1) { return (true, nil) }
      return (false, state.claim())
    }
    if mustRequest {
      request(leaving: 1, by: requestStandby)
      return self.claim()
    }
    if let claim, claim.isLast { releaseList() }
    return claim
  }

  /// Requests a standby if there is none, and something is unclaimed after a change.
  func provideStandby(
    after change: (inout Cursor) -> Void = { _ in }, requestingBy requestStandby: () -> Void
  ) {
    let isNeeded = withLock { state in
      change(&state.cursor)
      return state.cursor.request.start(ifNeeded: state.cursor.unclaimed > 0)
    }
    if isNeeded { request(leaving: 0, by: requestStandby) }
  }

  private func request(leaving own: Int, by requestStandby: () -> Void) {
    repeat {
      requestStandby()
    } while withLock { $0.cursor.request.mustRepeat(ifNeeded: $0.cursor.unclaimed > own) }
  }
}

/// What workers share under a lock: subscriptions that they claim, with a standby as long as one is unclaimed.
protocol Claimable: Sendable {
  var cursor: Cursor { get set }

  /// Notes that a subscription is claimed, in the same section.
  mutating func note(_ claim: inout Cursor.Claim)
}

extension Claimable {
  mutating func note(_ claim: inout Cursor.Claim) {}

  /// Claims the next subscription; the list, after the last one, is to be released outside the lock.
  fileprivate mutating func claim() -> (Cursor.Claim?, rest: [SubscriptionNode]) {
    guard var claim = cursor.claim() else { return (nil, []) }
    note(&claim)
    return (claim, claim.isLast ? cursor.release() : [])
  }
}

extension Lock where State: Claimable {
  /// Claims the next subscription; `nil` if none is left.
  func claim() -> Cursor.Claim? {
    let (claim, rest) = withLock { $0.claim() }
    withExtendedLifetime(rest) {}
    return claim
  }

  /// Claims the first subscription of a worker that begins, after its standby has been requested if another one is
  /// left.
  func begin(requestingBy requestStandby: () -> Void) -> Cursor.Claim? {
    let first = withLock { state in
      state.cursor.request.begin()
      // In one section: whoever requests meanwhile need not request again for what this worker claims.
      return state.cursor.request.start(ifNeeded: state.cursor.unclaimed > 1) ? nil : state.claim()
    }
    guard let first else {
      request(leaving: 1, by: requestStandby)
      return claim()
    }
    withExtendedLifetime(first.rest) {}
    return first.0
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

/// Which of several workers requests their standby: one at a time.
///
/// An executor may run a job at once, before `enqueue` returns. If each standby requested the next as it
/// begins, each would begin within the one before, until the stack is used up. So a standby that begins
/// while another one requests leaves that to the other one.
///
/// Invariant: a worker that requests has claimed nothing yet, so until it has done so it is a standby itself.
enum StandbyRequest: Sendable {
  /// No worker requests.
  case none
  /// A worker requests.
  case underWay
  /// A worker requests, and a standby has begun meanwhile: it may be the one that was requested.
  case overtaken

  /// Notes that a standby begins.
  ///
  /// - Parameter isNeeded: whether there is work for another one.
  /// - Returns: whether it has to request the next, before it claims.
  mutating func begin(ifNeeded isNeeded: Bool) -> Bool {
    switch self {
    case .none:
      if isNeeded { self = .underWay }
      return isNeeded
    case .underWay, .overtaken:
      self = .overtaken
      return false
    }
  }

  /// Notes that a worker has requested a standby.
  ///
  /// - Parameter isNeeded: whether there is work for another one.
  /// - Returns: whether it has to request again.
  mutating func mustRepeat(ifNeeded isNeeded: Bool) -> Bool {
    let mustRepeat = self == .overtaken && isNeeded
    self = mustRepeat ? .underWay : .none
    return mustRepeat
  }
}

/// What several workers claim bit by bit, with a standby as long as there is something for it.
protocol StandbyWork: Sendable {
  /// Which of the workers requests their standby.
  var request: StandbyRequest { get set }
  /// How much no worker has claimed.
  var unclaimed: Int { get }
}

extension Lock where State: StandbyWork {
  /// Requests the standby of a worker that begins, and has claimed nothing.
  ///
  /// - Parameter requestStandby: requests one worker.
  func provideForSuccessor(_ requestStandby: () -> Void) {
    guard withLock({ $0.request.begin(ifNeeded: $0.unclaimed > 1) }) else { return }
    repeat {
      requestStandby()
    } while withLock { $0.request.mustRepeat(ifNeeded: $0.unclaimed > 1) }
  }
}

/// Which of several workers asks for their standby: one at a time.
///
/// An executor may run a job at once, before `enqueue` returns. If each standby asked for the next as it
/// begins, each would begin within the one before, until the stack is used up. So a standby that begins
/// while another one asks leaves the asking to that one.
///
/// Invariant: a worker that asks has claimed nothing yet, so until it has asked it is a standby itself.
enum StandbyRequest: Sendable {
  /// Nobody asks.
  case none
  /// A worker asks.
  case underWay
  /// A worker asks, and a standby has begun meanwhile: it may be the one that was asked for.
  case overtaken

  /// Notes that a standby begins.
  ///
  /// - Parameter isNeeded: whether there is work for another one.
  /// - Returns: whether it has to ask for the next, before it claims.
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

  /// Notes that a worker that has to ask has done so.
  ///
  /// - Parameter isNeeded: whether there is work for another one.
  /// - Returns: whether it has to ask again.
  mutating func isToRepeat(ifNeeded isNeeded: Bool) -> Bool {
    let isToRepeat = self == .overtaken && isNeeded
    self = isToRepeat ? .underWay : .none
    return isToRepeat
  }
}

/// Which of several workers requests their standby: one at a time.
///
/// A standby is requested, and later begins. Each worker that begins requests the next one, before it claims
/// anything. If an executor runs that one at once, within `enqueue`, and each of them requested one more, they would
/// use up the stack. So a worker that begins while another one requests leaves that to the other one, which then
/// requests again.
///
/// Invariant: who requests has claimed nothing yet, so until it has done so it is a standby itself.
struct StandbyRequest: Sendable {
  /// Whether a standby has been requested that has not begun.
  private var isPending = false
  /// Whether a thread is requesting one.
  private var isUnderWay = false

  /// Notes that a standby begins.
  mutating func begin() { isPending = false }

  /// Begins to request a standby, unless there is one, or another thread requests it.
  ///
  /// - Parameter isNeeded: whether there is work for it.
  /// - Returns: whether the caller has to request it, and then calls ``mustRepeat(ifNeeded:)``.
  mutating func start(ifNeeded isNeeded: Bool) -> Bool {
    guard isNeeded, !isPending, !isUnderWay else { return false }
    (isPending, isUnderWay) = (true, true)
    return true
  }

  /// Notes that the standby has been requested.
  ///
  /// - Parameter isNeeded: whether there is work for another one.
  /// - Returns: whether it has begun, and the caller has to request again.
  mutating func mustRepeat(ifNeeded isNeeded: Bool) -> Bool {
    isUnderWay = false
    return start(ifNeeded: isNeeded)
  }
}

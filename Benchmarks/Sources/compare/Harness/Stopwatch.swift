import Dispatch

/// A point in time or a length of time, in nanoseconds.
///
/// A plain number, so that a handler can leave one in an atomic and ratios need no conversion.
typealias Nanoseconds = Double

/// The monotonic clock's present reading.
func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

/// Takes the time of `work`.
///
/// - Parameter work: what is measured; nothing else of note happens between the two readings.
/// - Returns: how long it took.
func stopwatch(_ work: () async -> Void) async -> Nanoseconds {
  let start = now()
  await work()
  return Nanoseconds(now() - start)
}

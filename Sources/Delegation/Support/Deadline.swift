/// A point in time by which a call has to return.
///
/// It counts from the call, however late the task that waits for it starts.
@usableFromInline
struct Deadline: Sendable {
  /// Whether there was no time at all.
  @usableFromInline
  let isPast: Bool
  private let sleep: @Sendable () async throws -> Void

  /// Sets a deadline that counts from now.
  @usableFromInline
  init(after duration: Duration, on clock: any Clock<Duration>) {
    isPast = duration <= .zero
    sleep = Self.makeSleep(duration, clock)
  }

  private static func makeSleep<C: Clock>(
    _ duration: Duration, _ clock: C
  ) -> @Sendable () async throws -> Void where C.Duration == Duration {
    let instant = clock.now.advanced(by: duration)
    return { try await clock.sleep(until: instant, tolerance: nil) }
  }

  /// Returns at the deadline, or when the task is cancelled.
  @usableFromInline
  func wait() async {
    if !isPast { try? await sleep() }
  }
}

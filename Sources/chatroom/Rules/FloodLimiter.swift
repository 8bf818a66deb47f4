/// Vetoes when one sender says too much in too short a time.
///
/// An actor, since it remembers what it let pass while messages come from many tasks. Only what it
/// let pass counts: who keeps on hammering gets through at the permitted rate, and not never.
actor FloodLimiter: RoomRule {
  /// When one sender's messages passed that may still count.
  private struct Passed {
    private var times: [Duration] = []
    /// Those before it count no more.
    private var start = 0

    var count: Int { times.count - start }
    var last: Duration? { times.last }

    /// Removes what is too old: each time once, however many there are.
    mutating func forget(upTo horizon: Duration) {
      while start < times.count, times[start] <= horizon { start += 1 }
      // Removing at the front moves all the others: only when they are fewer.
      guard 2 * start > times.count else { return }
      times.removeFirst(start)
      start = 0
    }

    mutating func add(_ time: Duration) {
      times.append(time)
    }
  }

  nonisolated let name = "flood limiter"
  nonisolated let detail: String

  private let limit: Int
  private let window: Duration
  private var passed: [String: Passed] = [:]
  private var sweepAt = 10_000

  init(limit: Int, window: Duration) {
    self.limit = limit
    self.window = window
    detail = "at most \(limit.of("message")) a sender within \(window.inSeconds)"
  }

  func room(_ room: Room, mayDeliver message: Message) -> Verdict {
    let horizon = message.sentAt - window
    let isAllowed = allow(
      message, after: horizon, in: &passed[message.senderKey, default: Passed()])
    guard isAllowed else {
      return .veto(because: "\(limit.of("message")) within \(window.inSeconds) is the limit")
    }
    if passed.count >= sweepAt { forget(before: horizon) }
    return .agree
  }

  private func allow(
    _ message: Message, after horizon: Duration, in recent: inout Passed
  ) -> Bool {
    recent.forget(upTo: horizon)
    guard recent.count < limit else { return false }
    recent.add(message.sentAt)
    return true
  }

  /// Drops those who have long been silent, so that passers-by do not fill the memory.
  private func forget(before horizon: Duration) {
    passed = passed.filter { $0.value.last.map { $0 > horizon } ?? false }
    sweepAt = max(10_000, 2 * passed.count)
  }
}

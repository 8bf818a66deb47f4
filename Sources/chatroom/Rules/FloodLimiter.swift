/// Vetoes when one sender says too much in too short a time.
///
/// An actor, since it remembers what it let pass while messages come from many tasks. Only what it
/// let pass counts: who keeps on hammering gets through at the permitted rate, and not never.
actor FloodLimiter: RoomRule {
  nonisolated let name = "flood limiter"
  nonisolated let detail: String

  private let limit: Int
  private let window: Duration
  private var passed: [String: [Duration]] = [:]
  private var sweepAt = 10_000

  init(limit: Int, window: Duration) {
    self.limit = limit
    self.window = window
    detail = "at most \(limit.of("message")) a sender within \(window.inSeconds)"
  }

  func room(_ room: Room, mayDeliver message: Message) -> Verdict {
    let horizon = message.sentAt - window
    var recent = passed[message.senderKey, default: []]
    recent.removeAll { $0 <= horizon }
    guard recent.count < limit else {
      return .veto(because: "\(limit.of("message")) within \(window.inSeconds) is the limit")
    }
    recent.append(message.sentAt)
    passed[message.senderKey] = recent
    if passed.count >= sweepAt { forget(before: horizon) }
    return .agree
  }

  /// Drops those who have long been silent, so that passers-by do not fill the memory.
  private func forget(before horizon: Duration) {
    passed = passed.filter { $0.value.contains { $0 > horizon } }
    sweepAt = max(10_000, 2 * passed.count)
  }
}

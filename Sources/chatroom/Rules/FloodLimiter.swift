/// Vetoes when one sender says too much in too short a time.
///
/// An actor, since it remembers what it let pass while messages come from many tasks. Only what it let pass counts: a
/// sender that goes on without a pause gets through at the permitted rate.
actor FloodLimiter: RoomRule {
  nonisolated let name = "flood limiter"
  nonisolated let detail: String

  private let limit: Int
  private let window: Duration
  /// When those messages of each sender passed that may still count.
  private var passed: [String: [Duration]] = [:]
  private var sweepAt = 10_000

  init(limit: Int, window: Duration) {
    self.limit = limit
    self.window = window
    detail = "at most \(limit.of("message")) a sender within \(window.inSeconds)"
  }

  func room(_ room: Room, mayDeliver message: Message) -> Verdict {
    let horizon = message.sentAt - window
    var recent = passed.removeValue(forKey: message.senderKey) ?? []
    defer { passed[message.senderKey] = recent }
    recent.removeFirst(recent.prefix { $0 <= horizon }.count)
    guard recent.count < limit else {
      return .veto(because: "\(limit.of("message")) within \(window.inSeconds) is the limit")
    }
    recent.append(message.sentAt)
    if passed.count >= sweepAt { forget(before: horizon) }
    return .agree
  }

  /// Forgets senders that have long been silent, so that they do not fill the memory.
  private func forget(before horizon: Duration) {
    passed = passed.filter { $0.value.last.map { $0 > horizon } ?? false }
    sweepAt = max(10_000, 2 * passed.count)
  }
}

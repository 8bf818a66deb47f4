import Synchronization

/// Lets each user say so much a second, with bursts of twice that; administrators what they like.
final class FloodLimit: ServerExtension, MessageRule {
  private struct Bucket {
    var left: Double
    var filled: ContinuousClock.Instant
  }

  let name = "flood-limit"
  let options = ExtensionOptions(priority: 10)
  private let perSecond: Double
  private let buckets = Mutex<[String: Bucket]>([:])

  init(perSecond: Int) {
    self.perSecond = Double(perSecond)
  }

  func verdict(on draft: Draft) async -> Verdict {
    if draft.sender.role == .administrator { return .agrees }
    let capacity = 2 * perSecond
    let now = ContinuousClock.now
    let isAllowed = buckets.withLock { buckets in
      var bucket = buckets[draft.sender.name] ?? Bucket(left: capacity, filled: now)
      let elapsed = bucket.filled.duration(to: now) / .seconds(1)
      bucket.left = min(capacity, bucket.left + elapsed * perSecond)
      bucket.filled = now
      defer { buckets[draft.sender.name] = bucket }
      guard bucket.left >= 1 else { return false }
      bucket.left -= 1
      return true
    }
    return isAllowed
      ? .agrees : .objects(because: "not more than \(Int(perSecond)) messages a second")
  }
}

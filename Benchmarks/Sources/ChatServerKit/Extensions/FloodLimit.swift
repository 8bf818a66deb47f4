import Synchronization

/// Lets each user say so much a second, with bursts of twice that; administrators what they like.
///
/// A user with an account has one allowance, over all connections. Guests may call themselves what they
/// like, so theirs goes with the connection.
final class FloodLimit: ServerExtension, MessageGate {
  private enum Speaker: Hashable {
    case account(String)
    case guest(connection: Int)

    init(of draft: Draft) {
      self =
        draft.sender.role == .guest
        ? .guest(connection: draft.connection) : .account(draft.sender.name)
    }
  }

  private struct Bucket {
    var left: Double
    var filled: ContinuousClock.Instant
  }

  /// What has been taken of the allowances.
  ///
  /// A bucket that nobody takes from is full after ``FloodLimit/timeToFill``, and a full one need not be
  /// kept. So there are two generations: whatever is used is in the younger one, and once that is so old,
  /// it becomes the older one, and what has not been used since the last time goes.
  private struct Buckets {
    var younger: [Speaker: Bucket] = [:]
    var older: [Speaker: Bucket] = [:]
    /// When the younger generation was begun; no bucket of the older one has been used since.
    var begun: ContinuousClock.Instant
  }

  let name = "flood-limit"
  let options = ExtensionOptions(priority: 10)
  private let perSecond: Double
  private let now: @Sendable () -> ContinuousClock.Instant
  private let buckets: Mutex<Buckets>

  private var capacity: Double { 2 * perSecond }
  private var timeToFill: Duration { .seconds(2) }

  /// Makes a limit.
  ///
  /// - Parameters:
  ///   - perSecond: how many messages a user may say in a second.
  ///   - now: tells the time.
  init(
    perSecond: Int,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.perSecond = Double(perSecond)
    self.now = now
    buckets = Mutex(Buckets(begun: now()))
  }

  /// How many allowances it keeps.
  var bucketCount: Int { buckets.withLock { $0.younger.count + $0.older.count } }

  func verdict(on draft: Draft) -> Verdict {
    if draft.sender.role == .administrator { return .agrees }
    return take(Speaker(of: draft), at: now())
      ? .agrees : .objects(because: "not more than \(Int(perSecond)) messages a second")
  }

  /// Takes one from a speaker's allowance, if there is one left.
  private func take(_ speaker: Speaker, at time: ContinuousClock.Instant) -> Bool {
    // Released after the lock, for there may be many of them.
    var full: [[Speaker: Bucket]] = []
    defer { withExtendedLifetime(full) {} }
    return buckets.withLock { buckets in
      let age = buckets.begun.duration(to: time)
      if age >= timeToFill {
        full.append(buckets.older)
        buckets.older = buckets.younger
        buckets.younger = [:]
        buckets.begun = time
        if age >= timeToFill * 2 {
          full.append(buckets.older)
          buckets.older = [:]
        }
      }
      var bucket =
        buckets.younger[speaker] ?? buckets.older.removeValue(forKey: speaker)
        ?? Bucket(left: capacity, filled: time)
      // Two that come at once may have read the time in the other order.
      let elapsed = max(0, bucket.filled.duration(to: time) / .seconds(1))
      bucket.left = min(capacity, bucket.left + elapsed * perSecond)
      bucket.filled = max(bucket.filled, time)
      let isAllowed = bucket.left >= 1
      if isAllowed { bucket.left -= 1 }
      buckets.younger[speaker] = bucket
      return isAllowed
    }
  }
}

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

  /// What is left of the allowances.
  ///
  /// One that nobody takes from is full after ``Allowance/timeToFill``, and a full one need not be
  /// kept. So there are two generations: whatever is used is in the younger one, and once that is so old,
  /// it becomes the older one, and what has not been used since the last time goes.
  private struct Allowances {
    var younger: [Speaker: Allowance] = [:]
    var older: [Speaker: Allowance] = [:]
    /// When the younger generation was begun; nothing of the older one has been used since.
    var begun: ContinuousClock.Instant
  }

  let name = "flood-limit"
  let options = ExtensionOptions(priority: 10)
  private let perSecond: Int
  private let now: @Sendable () -> ContinuousClock.Instant
  private let allowances: Mutex<Allowances>

  /// Makes a limit.
  ///
  /// - Parameters:
  ///   - perSecond: how many messages a user may say in a second.
  ///   - now: tells the time.
  init(
    perSecond: Int,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.perSecond = perSecond
    self.now = now
    allowances = Mutex(Allowances(begun: now()))
  }

  /// How many allowances it keeps.
  var count: Int { allowances.withLock { $0.younger.count + $0.older.count } }

  func verdict(on draft: Draft) -> Verdict {
    if draft.sender.role == .administrator { return .agrees }
    return take(Speaker(of: draft), at: now())
      ? .agrees : .objects(because: "not more than \(perSecond) messages a second")
  }

  /// Takes one from a speaker's allowance, if there is one left.
  private func take(_ speaker: Speaker, at time: ContinuousClock.Instant) -> Bool {
    // Released after the lock, for there may be many of them.
    var full: [[Speaker: Allowance]] = []
    defer { withExtendedLifetime(full) {} }
    return allowances.withLock { allowances in
      let age = allowances.begun.duration(to: time)
      if age >= Allowance.timeToFill {
        full.append(allowances.older)
        allowances.older = allowances.younger
        allowances.younger = [:]
        allowances.begun = time
        if age >= Allowance.timeToFill * 2 {
          full.append(allowances.older)
          allowances.older = [:]
        }
      }
      var allowance =
        allowances.younger[speaker] ?? allowances.older.removeValue(forKey: speaker)
        ?? Allowance(perSecond: perSecond, at: time)
      let wait = allowance.take(at: time)
      allowances.younger[speaker] = allowance
      return wait == nil
    }
  }
}

/// A voter of the cheapest kind: asynchronous by its protocol, but it never suspends.
///
/// It must look at the request and at itself, so that no compiler can answer in its place.
final class ClassGatekeeper: Gatekeeper {
  private let forbidden: Int

  /// Makes one.
  ///
  /// - Parameter forbidden: the request it denies.
  init(forbidding forbidden: Int) { self.forbidden = forbidden }

  func mayPerform(_ request: Request) async -> Bool { request.id != forbidden }
}

/// The same by a protocol that does not let it suspend.
final class PromptClassGatekeeper: PromptGatekeeper {
  private let forbidden: Int

  /// Makes one.
  ///
  /// - Parameter forbidden: the request it denies.
  init(forbidding forbidden: Int) { self.forbidden = forbidden }

  func allows(_ request: Request) -> Bool { request.id != forbidden }
}

/// A voter with state of its own, which costs a hop.
actor ActorGatekeeper: Gatekeeper {
  private let forbidden: Int
  private var asked = 0

  /// Makes one.
  ///
  /// - Parameter forbidden: the request it denies.
  init(forbidding forbidden: Int) { self.forbidden = forbidden }

  func mayPerform(_ request: Request) -> Bool {
    asked += 1
    return request.id != forbidden
  }
}

/// A voter that has to look something up elsewhere.
final class SleepingGatekeeper: Gatekeeper {
  private let forbidden: Int

  /// Makes one.
  ///
  /// - Parameter forbidden: the request it denies.
  init(forbidding forbidden: Int) { self.forbidden = forbidden }

  func mayPerform(_ request: Request) async -> Bool {
    // Cancelled only when another voter has denied: nobody reads this answer then.
    try? await Task.sleep(for: .milliseconds(5))
    return request.id != forbidden
  }
}

/// A voter that lets others go first.
final class YieldingGatekeeper: Gatekeeper {
  private let forbidden: Int
  private let times: Int

  /// Makes one.
  ///
  /// - Parameters:
  ///   - forbidden: the request it denies.
  ///   - times: how often it suspends.
  init(forbidding forbidden: Int, times: Int = 1) {
    self.forbidden = forbidden
    self.times = times
  }

  func mayPerform(_ request: Request) async -> Bool {
    for _ in 0..<times { await Task.yield() }
    return request.id != forbidden
  }
}

/// A voter that has others vote before it answers.
final class ChainedGatekeeper: Gatekeeper {
  /// Holds a vote of others.
  typealias Vote = @Sendable (Request) async -> Bool

  private let forbidden: Int
  private let next: Vote
  private let others: [any Gatekeeper]

  /// Makes one.
  ///
  /// - Parameters:
  ///   - forbidden: the request it denies.
  ///   - others: kept alive as long as this one, for those who vote hold them weakly.
  ///   - next: has them vote.
  init(forbidding forbidden: Int, after others: [any Gatekeeper], _ next: @escaping Vote) {
    self.forbidden = forbidden
    self.others = others
    self.next = next
  }

  func mayPerform(_ request: Request) async -> Bool {
    guard await next(request) else { return false }
    return request.id != forbidden
  }
}

/// A voter that counts how often anybody was asked.
final class CountedGatekeeper: Gatekeeper {
  private let forbidden: Int
  private let asked: Count

  /// Makes one.
  ///
  /// - Parameters:
  ///   - forbidden: the request it denies.
  ///   - asked: what is counted up, by all voters together.
  init(forbidding forbidden: Int, asked: Count) {
    self.forbidden = forbidden
    self.asked = asked
  }

  func mayPerform(_ request: Request) async -> Bool {
    asked.add(1)
    return request.id != forbidden
  }
}

import Foundation
import Synchronization
import Testing

/// What every suite has: its tests begin in turn, and one that hangs does not hang for ever.
///
/// *In turn*: if hundreds of tests begin at once, each takes as long as all of them together, and no
/// limit and no deadline says anything about a test any more. A test begins when there is a place for
/// it; what it waits until then is not a part of its time. Those of a suite that is `.heavy` take half
/// a second of a core and more.
///
/// *Does not hang*: the limit is far from what any test takes on any machine. A test that has not ended
/// by then fails and is cancelled. What it finds wrong after that is the cancellation's doing, not the
/// library's (a `drain` whose caller is cancelled returns with what is left): it is reported as a
/// warning that says so. One that does not even end then, as it waits for something that cancellation
/// does not end, stops the program, which could not end either.
struct InTurn: SuiteTrait, TestTrait, TestScoping {
  enum Weight: Int, Sendable {
    case light = 1
    case heavy = 4
  }

  let weight: Weight

  /// Two heavy tests at a time on two cores, or eight light ones.
  private static let places = Places(
    Weight.heavy.rawValue * max(2, ProcessInfo.processInfo.activeProcessorCount))

  /// What a test may take that has its usual number of rounds, and more if it has more.
  static let limit = Duration.seconds(600) * max(1, Effort.factor)

  /// How many seconds a test waits for what is bound to happen, where waiting for ever would block a
  /// thread: nobody waits that long unless the guarantee is broken.
  static let patience = 120

  var isRecursive: Bool { true }

  /// A test waits for its place as a whole, and each of its cases has the limit to itself.
  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
    test.isSuite ? nil : self
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    if testCase == nil {
      try await Self.places.take(weight.rawValue, function)
    } else {
      try await Self.watched(
        for: Self.limit + .seconds(60), "\(test.name) at \(test.sourceLocation)"
      ) {
        try await Self.limited(to: Self.limit, test, testCase, function)
      }
    }
  }

  /// Does something, and stops the program if it is not done within a time.
  static func watched<Result>(
    for duration: Duration, _ name: String, _ body: () async throws -> Result
  ) async rethrows -> Result {
    let watchdog = Task.detached {
      try await Task.sleep(for: duration)
      fatalError("\(name) hangs, even though it was cancelled")
    }
    defer { watchdog.cancel() }
    return try await body()
  }

  /// Performs a test, and cancels it when its time is up.
  static func limited(
    to limit: Duration, _ test: Test, _ testCase: Test.Case?,
    _ function: @Sendable () async throws -> Void
  ) async throws {
    // Set before the test is cancelled, so all that the cancellation causes sees it.
    let isUp = TimeIsUp()
    let marking = IssueHandlingTrait.compactMapIssues { issue in
      guard isUp.flag.load(ordering: .acquiring) else { return issue }
      var issue = issue
      issue.severity = .warning
      issue.comments.insert("said after the time limit, which had cancelled the test", at: 0)
      return issue
    }
    try await withoutActuallyEscaping(function) { function in
      try await withThrowingTaskGroup { group in
        group.addTask {
          try await Task.sleep(for: limit)
          Issue.record(
            "the test has not ended within \(limit), and is cancelled",
            sourceLocation: test.sourceLocation)
          isUp.flag.store(true, ordering: .releasing)
        }
        group.addTask {
          do {
            try await marking.provideScope(for: test, testCase: testCase, performing: function)
          } catch {
            // After the limit, which has been reported, this is what came of it.
            if !isUp.flag.load(ordering: .acquiring) { throw error }
          }
        }
        defer { group.cancelAll() }
        try await group.next()
      }
    }
  }

  private final class TimeIsUp: Sendable {
    let flag = Atomic(false)
  }
}

extension Trait where Self == InTurn {
  /// Tests that each take a fraction of a second.
  static var inTurn: Self { InTurn(weight: .light) }

  /// Tests of another weight.
  static func inTurn(_ weight: InTurn.Weight) -> Self { InTurn(weight: weight) }
}

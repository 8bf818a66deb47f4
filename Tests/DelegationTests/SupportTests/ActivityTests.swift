import Testing

@testable import Delegation

@Suite("Activity: how many workers there are, and whether somebody waits for them", .inTurn)
struct ActivityTests {
  enum Step: CaseIterable {
    case begin, end, announce, stop
  }

  @Test("after every history of seven steps it agrees with a number and a flag")
  func agreesWithModel() {
    for history in words(of: Step.allCases, length: 7) {
      var run = ActivityRun()
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
    }
  }
}

/// An activity and, beside it, what it should say.
private struct ActivityRun {
  private let activity = Activity()
  private var workers = 0
  private var isAwaited = false

  mutating func take(_ step: ActivityTests.Step) -> String? {
    switch step {
    case .begin:
      activity.begin()
      workers += 1
    case .end:
      guard workers > 0 else { break }
      workers -= 1
      if activity.end() != isAwaited { return "the end is told: \(!isAwaited)" }
    case .announce:
      activity.announceEnds()
      isAwaited = true
    case .stop:
      activity.stopAnnouncing()
      isAwaited = false
    }
    if activity.workers != workers { return "\(activity.workers) workers, expected \(workers)" }
    return activity.isAwaited == isAwaited ? nil : "awaited: \(!isAwaited)"
  }
}

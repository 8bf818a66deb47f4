import Synchronization
import Testing

@testable import Delegation

@Suite("AwaitedCount: a count, and those who wait for it to fall", .inTurn)
struct AwaitedCountTests {
  @Test("after every history of seven steps those go on who may, and it is known whether one waits")
  func agreesWithModel() {
    for history in words(of: AwaitedCountRun.Step.allCases, length: 7) {
      var run = AwaitedCountRun()
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
    }
  }

  @Test("as long as the count is above what they excuse, nobody is asked how many that are")
  func sparing() {
    let count = AwaitedCount(1_000)
    let asked = Recorder<Void>()
    let waiters = (0..<100).map { _ in
      Waiter {
        asked.record(())
        return 10
      }
    }
    for waiter in waiters { count.update { $0.add(waiter) } }
    for _ in 0..<989 { count.fall() }
    // Once each, when it came.
    #expect(asked.history.count == 100)
    count.fall()
    #expect(asked.history.count == 200)
    #expect(waiters.allSatisfy { $0.outcome == true })
    #expect(count.isAwaited == false)
  }

  @Test("nobody waits for ever, however the last falls meet those who come to wait")
  func race() {
    final class Shared: Sendable {
      let count = AwaitedCount(2)
    }
    let excused = [0, 0, 1, 2]
    for round in races(2_000) {
      let shared = Shared()
      let most = excused[round % 4]
      let waiters = (0..<2).map { _ in Waiter { most } }
      let meeting = Meeting(of: 4)
      Threads.run(4) { thread in
        meeting.await(0)
        if thread < 2 {
          shared.count.update { $0.add(waiters[thread]) }
        } else {
          shared.count.fall()
        }
      }
      #expect(waiters.allSatisfy { $0.outcome == true })
      #expect(shared.count.isAwaited == false)
    }
  }

  @Test("one that is being added sees a fall that comes after the count was read for it")
  func fallsWhileAdded() {
    final class Shared: Sendable {
      let count = AwaitedCount(3)
      let timesAsked = Atomic(0)
    }
    let shared = Shared()
    let waiter = Waiter { [shared] in
      switch shared.timesAsked.add(1, ordering: .sequentiallyConsistent).newValue {
      // When it is added.
      case 1: return 3
      // The count has been read. It falls, and whoever lowers it has the time to look whether somebody waits.
      case 2:
        while shared.count.value == 3 { Threads.pause() }
        Threads.pause(2_000)
        return 2
      default: return 2
      }
    }
    Threads.run(2) { thread in
      if thread == 0 {
        shared.count.update { $0.add(waiter) }
      } else {
        while shared.timesAsked.load(ordering: .sequentiallyConsistent) < 2 { Threads.pause() }
        shared.count.fall()
      }
    }
    #expect(waiter.outcome == true)
    #expect(shared.count.isAwaited == false)
  }

  @Test(
    "one whose excuse falls while the count does goes on when both have met", arguments: [1, 2])
  func fallingExcuse(start: Int) {
    final class Shared: Sendable {
      let count = AwaitedCount(3)
      let excused: Atomic<Int>
      init(_ excused: Int) { self.excused = Atomic(excused) }
    }
    for _ in races(2_000) {
      let shared = Shared(start)
      let waiter = Waiter { shared.excused.load(ordering: .sequentiallyConsistent) }
      shared.count.update { $0.add(waiter) }
      let meeting = Meeting(of: 3)
      Threads.run(3) { thread in
        meeting.await(0)
        // As a handler does that is excused and ends.
        if thread == 0 { shared.excused.subtract(1, ordering: .sequentiallyConsistent) }
        shared.count.fall()
      }
      #expect(waiter.outcome == true)
    }
  }
}

/// A count and, beside it, what it should do.
private struct AwaitedCountRun {
  enum Step: CaseIterable {
    case rise, fall, waitForNone, waitForOne, giveUp
  }

  private final class Shared: Sendable {
    let count = AwaitedCount()
  }

  private let shared = Shared()
  private var count = 0
  private var waiting: [(waiter: Waiter, limit: Int)] = []

  mutating func take(_ step: Step) -> String? {
    switch step {
    case .rise:
      shared.count.rise()
      count += 1
    case .fall:
      guard count > 0 else { break }
      shared.count.fall()
      count -= 1
    case .waitForNone: wait(Waiter(), limit: 0)
    case .waitForOne: wait(Waiter { 1 }, limit: 1)
    case .giveUp:
      guard let (waiter, _) = waiting.popLast() else { break }
      waiter.resume(false)
      shared.count.update { $0.remove(waiter) }
    }
    for (waiter, limit) in waiting where (waiter.outcome == true) != (count <= limit) {
      return count <= limit ? "one has not gone on at \(count)" : "one goes on at \(count)"
    }
    waiting.removeAll { count <= $0.limit }
    if shared.count.value != count { return "\(shared.count.value), expected \(count)" }
    return shared.count.isAwaited == !waiting.isEmpty ? nil : "awaited: \(!waiting.isEmpty)"
  }

  private mutating func wait(_ waiter: Waiter, limit: Int) {
    shared.count.update { $0.add(waiter) }
    waiting.append((waiter, limit))
  }
}

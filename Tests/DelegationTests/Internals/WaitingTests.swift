import Testing

@testable import Delegation

@Suite("Waiting: counts, and those that wait for them to fall", .inTurn(.heavy))
struct WaitingTests {
  @Test("after every history of steps the waiters go on that may, and one knows who waits")
  func agreesWithModel() {
    #expect(CountWorld().explore(upTo: CountWorld.length) == nil)
  }

  @Test("none waits for ever, however falls and waits meet", arguments: [0, 1, 2])
  func race(excused: Int) {
    for round in races(2_000) {
      let (shared, now) = (SharedCount(2), Count())
      now.add(excused)
      let waiters = (0..<2).map { _ in Waiter { now.value } }
      let meeting = Meeting(of: 4)
      Threads.run(4) { thread in
        meeting.await(0)
        if thread < 2 {
          shared.count.update(.add(waiters[thread]))
        } else {
          // As a handler does that is excused and ends.
          if thread == 2, excused > 0 { now.add(-1) }
          shared.count.fall()
        }
      }
      #expect(waiters.allSatisfy { $0.outcome == true }, "\(round)")
      #expect(!shared.isAwaited)
    }
  }

  @Test("one that is being added sees a fall that comes after the count was read for it")
  func fallsWhileAdded() {
    let (shared, timesAsked) = (SharedCount(3), Count())
    let waiter = Waiter {
      timesAsked.add(1)
      // When it is added.
      if timesAsked.value == 1 { return 3 }
      if timesAsked.value == 2 {
        // The count has been read. It falls, and the thread that lowers it has the time to look whether one waits.
        while shared.count.value == 3 { Threads.pause() }
        Threads.pause(2_000)
      }
      return 2
    }
    Threads.run(2) { thread in
      if thread == 0 {
        shared.count.update(.add(waiter))
      } else {
        while timesAsked.value < 2 { Threads.pause() }
        shared.count.fall()
      }
    }
    #expect(waiter.outcome == true && !shared.isAwaited)
  }

  @Test("a waiter is resumed once, with the first outcome, which may come before it waits")
  func waiter() async {
    for round in races(500) {
      let waiter = Waiter()
      if round % 3 == 0 { waiter.resume(round % 2 == 0) }
      let waiting = Task { await waiter.wait() }
      let meeting = Meeting(of: 2)
      Threads.run(2) { thread in
        meeting.await(0)
        waiter.resume(thread == round % 2)
      }
      let outcome = await waiting.value
      #expect(outcome == waiter.outcome)
      if round % 3 == 0 { #expect(outcome == (round % 2 == 0)) }
    }
  }

  @Test("a worker's calls are told apart, also after more than a word of 32 bits can count")
  func calls() {
    let worker = Worker(for: 0, caller: nil)
    let first = HandlerContext(worker: worker, call: worker.begin(), node: nil)
    #expect(first.isRunning && first.call == 1)
    worker.end()
    #expect(!first.isRunning)
    for count in [UInt64(1) << 31, 1 << 32, 1 << 33] {
      // As after that many calls: the next one has a number that was had before in fewer bits.
      worker.word.store(count << 1, ordering: .relaxed)
      #expect(worker.begin() == count + 1 && !first.isRunning)
      worker.end()
    }
  }
}

/// `~Copyable`, and so in an object.
private final class SharedCount: Sendable {
  let count = AwaitedCount()

  init(_ count: Int = 0) { self.count.rise(by: count) }

  var isAwaited: Bool { count.limit.load(ordering: .sequentiallyConsistent) >= 0 }
}

/// A count and, beside it, what it should do; it is lived through from the start, as it is shared.
private struct CountWorld: SmallWorld {
  enum Step: CaseIterable {
    case rise, fall, waitForNone, waitForOne, giveUp
  }

  static let length = 6

  private var history: [Step] = []

  var steps: [Step] { Step.allCases }

  mutating func take(_ step: Step) -> String? {
    history.append(step)
    // Each history is a part of a longer one.
    return history.count == Self.length ? Self.play(history) : nil
  }

  private static func play(_ history: [Step]) -> String? {
    let shared = SharedCount()
    var count = 0
    var waiting: [(waiter: Waiter, limit: Int)] = []
    for step in history {
      switch step {
      case .rise:
        shared.count.rise()
        count += 1
      case .fall:
        guard count > 0 else { break }
        shared.count.fall()
        count -= 1
      case .waitForNone, .waitForOne:
        let limit = step == .waitForOne ? 1 : 0
        waiting.append((Waiter(kind: limit) { limit }, limit))
        shared.count.update(.add(waiting.last!.waiter))
      case .giveUp:
        guard let (waiter, _) = waiting.popLast() else { break }
        waiter.resume(false)
        shared.count.update(.remove(waiter))
      }
      for (waiter, limit) in waiting where (waiter.outcome == true) != (count <= limit) {
        return "one that waits for \(limit) at \(count)"
      }
      waiting.removeAll { count <= $0.limit }
      if shared.count.value != count { return "\(shared.count.value), expected \(count)" }
      if shared.isAwaited != !waiting.isEmpty { return "awaited: \(!waiting.isEmpty)" }
    }
    return nil
  }
}

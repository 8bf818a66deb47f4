import Synchronization
import Testing

@testable import Delegation

@Suite("Lock", .inTurn)
struct LockTests {
  private struct Fault: Error, Equatable {
    let number: Int
  }

  @Test("one thread at a time has the state, also those that slept", arguments: [2, 4, 16])
  func excludes(threads: Int) {
    final class Shared: Sendable {
      let pair = Lock((first: 0, second: 0))
    }
    let (shared, disagreements, waiting) = (Shared(), Count(), Count())
    Threads.run(threads) { thread in
      if thread == 0 {
        // The others go from trying through giving way to sleeping.
        shared.pair.withLock { _ in
          while waiting.value < threads - 1 { Threads.pause() }
          Threads.pause(2_000)
        }
      }
      waiting.add(1)
      for _ in 0..<5_000 {
        shared.pair.withLock { pair in
          pair.first += 1
          if pair.first != pair.second + 1 { disagreements.add(1) }
          pair.second += 1
        }
      }
    }
    #expect(shared.pair.withLock { [$0.first, $0.second] } == [threads * 5_000, threads * 5_000])
    #expect(disagreements.value == 0)
  }

  @Test("the caller gets what a closure returns or throws, and the lock is free again")
  func results() {
    let lock = Lock([1, 2])
    let popped: [Int?] = (0..<3).map { _ in lock.withLock { $0.popLast() } }
    #expect(popped == [2, 1, nil])
    do throws(Fault) {
      try lock.withLock { (numbers: inout [Int]) throws(Fault) in
        numbers.append(7)
        throw Fault(number: numbers.count)
      }
      Issue.record("nothing was thrown")
    } catch {
      #expect(error == Fault(number: 1))
    }
    #expect(lock.withLock { $0 } == [7])
    #if os(Linux) || os(Android)
      let isClaimed = lock.withLock { _ in lock.isClaimed.load(ordering: .relaxed) }
      let isClaimedAfter = lock.isClaimed.load(ordering: .relaxed)
      #expect(isClaimed && !isClaimedAfter)
    #endif
  }
}

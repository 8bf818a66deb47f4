import Synchronization
import Testing

@testable import Delegation

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Lock", .inTurn)
struct LockTests {
  private enum Fault: Error, Equatable {
    case section(Int)
  }

  /// Two numbers that agree whenever nobody has the lock.
  private struct Pair: Sendable {
    var first = 0
    var second = 0
  }

  private final class Shared<State: Sendable>: Sendable {
    let lock: Lock<State>
    let holds = Atomic(false)
    let waiting = Atomic(0)

    init(_ state: State) {
      lock = Lock(state)
    }

    /// Runs the closure on some threads while another has the lock, until long after all have begun:
    /// the threads go from trying through giving way to sleeping.
    func whileHeld(by threads: Int, _ body: @escaping @Sendable (Int) -> Void) {
      Threads.run(threads + 1) { index in
        if index == 0 {
          self.lock.withLock { _ in
            self.holds.store(true, ordering: .releasing)
            while self.waiting.load(ordering: .acquiring) < threads { Threads.pause() }
            Threads.pause(2_000)
          }
        } else {
          while !self.holds.load(ordering: .acquiring) { Threads.pause() }
          self.waiting.add(1, ordering: .releasing)
          body(index)
        }
      }
    }
  }

  @Test("of many threads one at a time has the state", arguments: [2, 4, 16])
  func excludes(threads: Int) {
    let shared = Shared(Pair())
    let rounds = 5_000
    let disagreements = Atomic(0)
    Threads.run(threads) { _ in
      for _ in 0..<rounds {
        let agree = shared.lock.withLock { pair in
          pair.first += 1
          let agree = pair.first == pair.second + 1
          pair.second += 1
          return agree
        }
        if !agree { disagreements.add(1, ordering: .relaxed) }
      }
    }
    let sums = shared.lock.withLock { [$0.first, $0.second] }
    #expect(sums == [threads * rounds, threads * rounds])
    #expect(disagreements.load(ordering: .relaxed) == 0)
  }

  @Test("what a closure returns is what the caller gets, and it runs once, though it returns nil")
  func returns() {
    let lock = Lock([1, 2])
    #expect(lock.withLock { $0.removeLast() } == 2)
    let last: Int? = lock.withLock { numbers in numbers.popLast() }
    #expect(last == 1)
    let none: Int? = lock.withLock { numbers in
      defer { numbers.append(7) }
      return numbers.popLast()
    }
    #expect(none == nil)
    #expect(lock.withLock { $0 } == [7])
  }

  @Test("an error keeps its type, what was written before it stays, and the lock is free again")
  func throwsTyped() {
    let lock = Lock(0)
    do throws(Fault) {
      try lock.withLock { (number: inout Int) throws(Fault) in
        number += 1
        throw .section(number)
      }
      Issue.record("nothing was thrown")
    } catch {
      #expect(error == .section(1))
    }
    #expect(lock.withLock { $0 } == 1)
  }

  #if os(Linux) || os(Android)

    @Test("nobody has the claim after a section, so the next thread need not wait")
    func unclaimed() {
      let lock = Lock(0)
      func isClaimed() -> Bool { lock.isClaimed.load(ordering: .relaxed) }
      for _ in 0..<3 {
        let isClaimedWithin = lock.withLock { _ in isClaimed() }
        #expect(isClaimedWithin)
        let isClaimedAfter = isClaimed()
        #expect(!isClaimedAfter)
        _ = try? lock.withLock { (_: inout Int) throws(Fault) in throw .section(0) }
        let isClaimedAfterError = isClaimed()
        #expect(!isClaimedAfterError)
      }
    }
  #endif

  #if canImport(Glibc)
    @Test(
      "with more threads than cores few sections cost a sleep, though all slept through a long one",
      .enabled(if: !isThreadSanitized, "the sanitizer's own locks sleep"))
    func hardlySleeps() {
      let shared = Shared(0)
      let sleeps = Atomic(0)
      let threads = 16
      let rounds = 10_000
      shared.whileHeld(by: threads) { _ in
        for _ in 0..<rounds { shared.lock.withLock { $0 += 1 } }
        // Of this thread alone, as other tests run beside this one: `RUSAGE_THREAD`, which Glibc's
        // headers hide from Swift.
        var usage = rusage()
        #expect(getrusage(1, &usage) == 0)
        sleeps.add(usage.ru_nvcsw, ordering: .relaxed)
      }
      let sections = threads * rounds
      #expect(shared.lock.withLock { $0 } == sections)
      let slept = sleeps.load(ordering: .relaxed)
      #expect(slept < sections / 10, "\(slept) sleeps in \(sections) sections")
    }

    private static let isThreadSanitized = dlsym(nil, "__tsan_init") != nil
  #endif
}

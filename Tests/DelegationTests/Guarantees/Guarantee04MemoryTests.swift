import Foundation
import Testing

@testable import Delegation

@Suite("Guarantee 4: weak, and the dead cost bounded memory", .inTurn(.heavy))
struct Guarantee04MemoryTests {
  /// Subscribes and ends many subscriptions, and gives the most that were kept at a time.
  private func churn(_ hub: DelegateHub, _ end: (DelegateHub.Subscription) -> Void = { _ in }) async
    -> Int
  {
    let lifetimes = Lifetimes()
    var most = 0
    for number in 0..<Self.count {
      // The id stands for the subscription's own memory: it is released with it.
      end(hub.subscribe(Probe(), to: Listener.self, id: lifetimes.make()))
      most = max(most, lifetimes.alive)
      // A moment for the hub's own tasks: this is not a call on the hub.
      if number % 100 == 0 { await Task.yield() }
    }
    return most
  }

  private static let count = 30_000

  @Test("of those that die without a word a bounded number of subscriptions is kept")
  func subscriptionsOfTheDead() async {
    #expect(await churn(DelegateHub()) < Self.count / 2)
  }

  @Test("neither do the subscriptions of the cancelled pile up")
  func subscriptionsOfTheCancelled() async {
    #expect(await churn(DelegateHub()) { $0.cancel() } < Self.count / 2)
  }

  #if os(Linux)
    @Test("resident memory stays level while 200,000 subscribers die without a word")
    func residentMemory() async {
      // In a process of its own: memory is the process's.
      await #expect(processExitsWith: .success) {
        let hub = DelegateHub()
        func subscribe(_ count: Int) async {
          for number in 0..<count {
            hub.subscribe(Probe(), to: Listener.self)
            if number % 1000 == 0 { await Task.yield() }
          }
        }
        await subscribe(50_000)
        let before = residentKilobytes()
        await subscribe(150_000)
        let growth = residentKilobytes() - before
        // Kept, they would cost some 300 bytes each: 45 MB.
        #expect(growth < 8_000, "grew by \(growth) kB")
      }
    }

    @Test("notifications that nobody is left to hear cost nothing")
    func unheard() async {
      await #expect(processExitsWith: .success) {
        let hub = DelegateHub()
        func post(_ count: Int) async {
          hub.subscribe(Probe(), to: Listener.self)
          for number in 0..<count {
            let cargo = Array(repeating: UInt8(1), count: 256)
            hub[Listener.self].notify() { _ in withExtendedLifetime(cargo) {} }
            if number % 1000 == 0 { await hub.drain() }
          }
        }
        await post(20_000)
        let before = residentKilobytes()
        await post(100_000)
        let growth = residentKilobytes() - before
        // Kept, they would cost 256 bytes each and more: 25 MB.
        #expect(growth < 8_000, "grew by \(growth) kB")
      }
    }

    @Test("waking an idle hub a hundred thousand times leaves nothing behind")
    func wakes() async {
      await #expect(processExitsWith: .success) {
        let hub = DelegateHub()
        let probe = Probe()
        hub.subscribe(probe, to: Listener.self)
        func wake(_ count: Int) async {
          for _ in 0..<count {
            hub[Listener.self].notify() { _ in }
            await hub.drain()
          }
        }
        await wake(10_000)
        let before = residentKilobytes()
        await wake(90_000)
        let growth = residentKilobytes() - before
        // Some 64 bytes that each of them leaves would be 6 MB.
        #expect(growth < 3_000, "grew by \(growth) kB")
        withExtendedLifetime(probe) {}
      }
    }

    @Test("deadlines that have come leave nothing behind of the tasks that slept until then")
    func sleepers() async {
      await #expect(processExitsWith: .success) {
        let (clock, executor) = (ManualClock(), ManualExecutor())
        let queue = DeadlineQueue(clock: clock, executor: executor)
        func pass(_ count: Int) {
          for _ in 0..<count {
            _ = queue.deadline(after: .seconds(1))?.schedule {}
            executor.run()
            clock.advance(by: .seconds(1))
            executor.run()
          }
        }
        pass(5_000)
        let before = residentKilobytes()
        pass(20_000)
        let growth = residentKilobytes() - before
        // Kept, they would cost some 400 bytes each: 8 MB.
        #expect(growth < 3_000, "grew by \(growth) kB")
      }
    }
  #endif
}

#if os(Linux)
  /// The process's resident memory.
  private func residentKilobytes() -> Int {
    let status = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii)
    let pages = status?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (pages ?? 0) * 4
  }
#endif

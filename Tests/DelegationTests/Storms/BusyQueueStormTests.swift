import Dispatch
import Synchronization
import Testing

@testable import Delegation

@Suite("Storm: subscribers on a queue that is busy in pieces", .inTurn(.heavy))
struct BusyQueueStormTests {
  /// A serial queue with other work, of which there is one piece between any two jobs.
  private final class BusyQueue: Sendable {
    let queue = DispatchQueue(label: "busy")
    private let pieces = Atomic<Int>(0)
    private let isOver = Atomic(false)

    /// How many pieces have been done.
    var done: Int { pieces.load(ordering: .relaxed) }

    func start() {
      queue.async {
        // A piece takes far longer than it takes to give the queue a job.
        let end = ContinuousClock.now + .milliseconds(1)
        while ContinuousClock.now < end {}
        self.pieces.wrappingAdd(1, ordering: .relaxed)
        if !self.isOver.load(ordering: .relaxed) { self.start() }
      }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }
  }

  @Test("a handler begins behind a piece or two, and so does the answer come back")
  func pieces() async throws {
    let busy = BusyQueue()
    let hub = DelegateHub()
    let members = Probe.many(3)
    let executor = DispatchQueueExecutor(busy.queue)
    for member in members { hub.subscribe(member, to: Listener.self, on: executor) }
    let others = Probe.many(3)
    for member in others { hub.subscribe(member, to: Bystander.self, on: busy.queue) }
    busy.start()
    var passed: [Int] = []
    for round in rounds(40, atLeast: 20) {
      let before = busy.done
      let after = Lock<[Int]>([])
      if round % 2 == 0 {
        _ = await hub[Listener.self].vote() { _ in
          after.withLock { $0.append(busy.done) }
          return true
        }
      } else {
        await hub[Bystander.self].notifyAndWait() { _ in after.withLock { $0.append(busy.done) } }
      }
      passed.append(try #require(after.withLock { $0.max() }) - before)
    }
    busy.stop()
    // On a busy machine the queue gets on while the caller does not: the least of each kind is the library's.
    let votes = stride(from: 0, to: passed.count, by: 2).map { passed[$0] }
    let deliveries = stride(from: 1, to: passed.count, by: 2).map { passed[$0] }
    #expect(try #require(votes.min()) <= 2, "\(votes)")
    #expect(try #require(deliveries.min()) <= 2, "\(deliveries)")
    withExtendedLifetime((members, others)) {}
  }
}

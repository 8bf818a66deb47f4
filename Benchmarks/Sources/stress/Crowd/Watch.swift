import Delegation
import Synchronization

/// What one subscriber sees of the promises made to it.
final class Watch: Sendable {
  private static let lastNumber = Counter()

  let number = Watch.lastNumber.add()
  private let world: World
  private let isHandling = Atomic<Bool>(false)
  private let isBarred = Atomic<Bool>(false)
  private let ends = Counter()
  private let failures = Counter()
  private let lastSequences: Mutex<[Int: Int]> = Mutex([:])
  private let ticket = Mutex<DelegateHub.Subscription?>(nil)

  init(_ world: World) {
    self.world = world
    world.alive.add()
  }

  deinit { world.alive.add(-1) }

  /// How many of its handlers have ended in whichever way.
  var handled: Int { ends.value }
  /// How many of them threw.
  var failed: Int { failures.value }

  /// What it can cancel itself with.
  var subscription: DelegateHub.Subscription? {
    get { ticket.withLock { $0 } }
    set { ticket.withLock { $0 = newValue } }
  }

  /// The last event of a producer that it has begun to handle.
  func lastSequence(of producer: Int) -> Int { lastSequences.withLock { $0[producer] ?? -1 } }

  /// Notes that a handler begins.
  func begin(_ event: Event) {
    let wasHandling = isHandling.exchange(true, ordering: .acquiringAndReleasing)
    world.violations.check(!wasHandling, "a subscriber handled two notifications at a time")
    let isLate = isBarred.load(ordering: .acquiring)
    world.violations.check(!isLate, "a handler began after cancelAndWait had returned")
    if let producer = event.producer {
      let isInOrder = lastSequences.withLock { sequences in
        let last = sequences.updateValue(event.sequence, forKey: producer)
        return last ?? -1 < event.sequence
      }
      world.violations.check(isInOrder, "a producer's notifications came out of order")
    }
  }

  /// Notes that a handler ends.
  func end(throwing: Bool) {
    isHandling.store(false, ordering: .releasing)
    if throwing { failures.add() }
    ends.add()
  }

  /// Notes that no handler runs or will run any more.
  func bar() {
    isBarred.store(true, ordering: .releasing)
    let isRunning = isHandling.load(ordering: .acquiring)
    world.violations.check(!isRunning, "a handler ran on after cancelAndWait had returned")
  }
}

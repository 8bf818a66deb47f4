import Delegation
import Synchronization

/// What one subscriber sees of the promises made to it.
final class Watch: Sendable {
  /// The subscriber's number.
  let number: Int
  private let world: World
  private let isPromptResident: Bool
  private let isAsleep: Bool
  private let isHandling = Atomic<Bool>(false)
  private let isBarred = Atomic<Bool>(false)
  private let ends = Atomic<Int>(0)
  private let failures = Atomic<Int>(0)
  private let lastSequences: Mutex<[Int]>
  private let ticket = Mutex<DelegateHub.Subscription?>(nil)

  /// Begins to watch, at the subscriber's birth.
  ///
  /// - Parameters:
  ///   - world: the world it is born into.
  ///   - temper: what it is like.
  ///   - isResident: whether it stays from beginning to end.
  init(_ world: World, _ temper: Temper, isResident: Bool) {
    self.world = world
    number = world.wasBorn()
    isPromptResident = isResident && temper == .prompt
    isAsleep = temper == .sleeping
    lastSequences = Mutex(Array(repeating: -1, count: world.producers))
  }

  deinit { world.hasDied() }

  /// How many of its handlers have ended in whichever way.
  var handled: Int { ends.load(ordering: .acquiring) }
  /// How many of them threw.
  var failed: Int { failures.load(ordering: .acquiring) }

  /// What it can cancel itself with.
  var subscription: DelegateHub.Subscription? {
    get { ticket.withLock { $0 } }
    set { ticket.withLock { $0 = newValue } }
  }

  /// The last event of a producer that it has begun to handle.
  ///
  /// - Parameter producer: whose.
  /// - Returns: the event's sequence number, or -1.
  func lastSequence(of producer: Int) -> Int { lastSequences.withLock { $0[producer] } }

  /// Notes that a handler begins.
  ///
  /// - Parameter event: what it handles.
  func begin(_ event: Event) {
    let latency = World.now() - event.postedAt
    if !isAsleep { world.latencies.record(latency, of: number) }
    if isPromptResident { world.promptLatencies.record(latency, of: number) }
    let wasHandling = isHandling.exchange(true, ordering: .acquiringAndReleasing)
    world.violations.check(!wasHandling, "a subscriber handled two notifications at a time")
    let isLate = isBarred.load(ordering: .acquiring)
    world.violations.check(!isLate, "a handler began after cancelAndWait had returned")
    if let producer = event.producer {
      let isInOrder = lastSequences.withLock { sequences in
        defer { sequences[producer] = event.sequence }
        return sequences[producer] < event.sequence
      }
      world.violations.check(isInOrder, "a producer's notifications came out of order")
    }
  }

  /// Notes that a handler ends.
  ///
  /// - Parameter throwing: whether it throws.
  func end(throwing: Bool) {
    isHandling.store(false, ordering: .releasing)
    if throwing { failures.wrappingAdd(1, ordering: .relaxed) }
    ends.wrappingAdd(1, ordering: .releasing)
    world.tally.count(throwing ? .failed : .handled)
  }

  /// Notes that no handler runs or will run any more.
  func bar() {
    isBarred.store(true, ordering: .releasing)
    let isRunning = isHandling.load(ordering: .acquiring)
    world.violations.check(!isRunning, "a handler ran on after cancelAndWait had returned")
  }
}

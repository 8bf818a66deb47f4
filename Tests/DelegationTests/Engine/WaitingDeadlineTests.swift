import Synchronization
import Testing

@testable import Delegation

@Suite("Waiting: what comes before the wait has begun")
struct WaitingDeadlineTests {
  @Test("a deadline that passes before the wait has begun is kept")
  func earlyDeadline() async {
    await keeps { hub in await hub.drain(within: .zero) }
  }

  @Test("a cancellation that comes before the wait has begun is kept")
  func earlyCancellation() async {
    await keeps { hub in
      withUnsafeCurrentTask { $0?.cancel() }
      return await hub.drain()
    }
  }

  @Test("a goal that has been reached before the wait begins is seen, and nothing is left of it")
  func reached() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let node = Structures.subscribe(subscriber, in: board)
    let receipt = Receipt()
    for goal in [WaitGoal.rest(of: board.activity), .end(of: node), .passing(of: receipt)] {
      let waiter = Waiter()
      goal.update { $0.add(waiter) }
      #expect(waiter.outcome == true)
      goal.update { $0.remove(waiter) }
    }
    #expect(board.activity.workers.isAwaited == false)
    let word = node.state.load(ordering: .relaxed)
    #expect(word & SubscriptionNode.Bits.awaited == 0)
    #expect(receipt.outstanding.isAwaited == false)
  }

  /// Expects a drain to return though a handler hangs.
  private func keeps(
    _ drain: @escaping @Sendable (DelegateHub) async -> DelegateHub.Leftovers
  ) async {
    var configuration = DelegateHub.Configuration()
    configuration.executor = InPlaceExecutor()
    configuration.clock = ImpatientClock()
    let hub = DelegateHub(configuration)
    let subscriber = Probe()
    hub.subscribe(subscriber, to: Listener.self)
    let gate = Gate()
    hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    let running = Recorder<Int>()
    let drained = Task {
      let left = await drain(hub)
      running.record(left.subscribers.map(\.running).reduce(0, +))
    }
    // If it waited for the handler, this would hang.
    #expect(await running.history(of: 1) == [1])
    gate.open()
    await drained.value
    await hub.drain()
    withExtendedLifetime(subscriber) {}
  }
}

/// Runs every job at once, where it is enqueued.
private final class InPlaceExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// A clock on which every time has come.
private struct ImpatientClock: Clock {
  typealias Instant = ContinuousClock.Instant

  var now: Instant { .now }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {}
}

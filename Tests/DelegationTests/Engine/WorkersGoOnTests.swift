import Dispatch
import Testing

@testable import Delegation

/// A worker runs many handlers: who waits for one of them does not wait for the worker.
@Suite("Waiting: for handlers, not for those who run them", .inTurn)
struct WorkersGoOnTests {
  /// Where the only worker there can be stands: in the first subscriber's handler, then in the second's.
  private final class Lane: Sendable {
    let hub = DelegateHub(on: ThreadPool(threads: 1))
    let begun = Gate()
    let probes = Probe.many(2)
    let subscriptions: [DelegateHub.Subscription]
    private let semaphores = (0..<2).map { _ in DispatchSemaphore(value: 0) }

    init() {
      subscriptions = [0, 1].map { [hub, probes] in hub.subscribe(probes[$0], to: Listener.self) }
    }

    /// Whether somebody waits for the first subscriber's handlers.
    var isAwaited: Bool {
      subscriptions[0].node.state.load(ordering: .relaxed) & SubscriptionNode.Bits.awaited != 0
    }

    /// Takes the worker's thread until it is let go on.
    func block(_ probe: any Listener) {
      begun.arrive()
      semaphores[Int(probe.name) ?? 0].wait()
    }

    func release(_ index: Int) {
      semaphores[index].signal()
    }
  }

  @Test("a subscription is waited for until its handler ends", arguments: Reach.allCases)
  func cancelAndWait(reach: Reach) async {
    let lane = Lane()
    let call = Task { await reach(lane.hub, suspending: false) { lane.block($0) } }
    await lane.begun.arrivals(1)
    let end = Task { await lane.subscriptions[0].cancelAndWait() }
    while !lane.isAwaited { await Task.yield() }
    lane.release(0)
    await lane.begun.arrivals(2)
    await end.value
    lane.release(1)
    await call.value
    await lane.hub.drain()
  }

  @Test("a notification that is delivered is waited for, and not the one that follows it")
  func deliver() async {
    let lane = Lane()
    lane.subscriptions[1].cancel()
    lane.hub[Listener.self].notify() { lane.block($0) }
    await lane.begun.arrivals(1)
    let delivered = Task { _ = await lane.hub[Listener.self].notifyAndWait() { _ in } }
    while await lane.hub.statistics().posted < 2 { await Task.yield() }
    lane.hub[Listener.self].notify() { lane.block($0) }
    // One worker handles both of those that came meanwhile.
    lane.release(0)
    await lane.begun.arrivals(2)
    await delivered.value
    lane.release(0)
    await lane.hub.drain()
  }

  @Test("whoever delivers goes on when the books are settled", arguments: [false, true])
  func settledBooks(isFailing: Bool) async {
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { _ in }
    let hub = DelegateHub(configuration)
    let probe = Probe()
    let node = hub.subscribe(probe, to: Listener.self).node
    let account = await Task(executorPreference: PromptExecutor()) {
      await hub[Listener.self].notifyAndWait() { _ in if isFailing { throw Refusal() } }
      return node.account
    }.value
    #expect(account == (isFailing ? Account(failed: 1) : Account(handled: 1)))
    withExtendedLifetime(probe) {}
  }

  @Test("a worker that others rely on lets them run before it goes on")
  func pause() {
    let stage = Stage()
    let probes = stage.cast(1)
    let gate = Gate()
    let events = Recorder<String>()
    stage.hub[Listener.self].notify() { _ in
      await gate.pass()
      events.record("first")
    }
    stage.run()
    stage.hub[Listener.self].notify() { _ in events.record("second") }
    // Another worker comes by, and leaves the second to the one that attends.
    stage.run()
    gate.open()
    let other = stage.start { _ in events.record("other") }
    #expect(other.result != nil)
    #expect(events.history == ["first", "other", "second"])
    withExtendedLifetime(probes) {}
  }

  @Test(
    "what a handler left behind waits for all, once the handler has returned",
    arguments: Reach.allCases)
  func leftBehind(reach: Reach) {
    let stage = Stage()
    let (early, late) = (Probe("early"), Probe("late"))
    stage.hub.subscribe(early, to: Listener.self)
    stage.hub.subscribe(late, to: Bystander.self)
    let (leaving, handling) = (Gate(), Gate())
    let events = Recorder<String>()
    let call = stage.start { hub in
      await reach(hub, suspending: false) { [executor = stage.executor] _ in
        Task(executorPreference: executor) {
          await leaving.pass()
          await hub.drain()
          events.record("drained")
        }
      }
    }
    #expect(call.result != nil)
    stage.hub[Bystander.self].notify() { _ in
      await handling.pass()
      events.record("handled")
    }
    stage.run()
    stage.open(leaving)
    #expect(events.history == [])
    stage.open(handling)
    #expect(events.history == ["handled", "drained"])
    withExtendedLifetime((early, late)) {}
  }
}

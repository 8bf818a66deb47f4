import Delegation
import Dispatch
import Testing

@Suite("Executors", .inTurn)
struct ExecutorTests {
  @Test("executors of queues that come and go leave nothing behind")
  func noLeak() async {
    let hub = DelegateHub()
    func passBy() -> Obituary {
      let probe = Probe()
      let executor = DispatchQueueExecutor(DispatchQueue(label: "passing"))
      hub.subscribe(probe, to: Listener.self, on: executor)
      hub.unsubscribe(probe)
      return Obituary(of: executor)
    }
    for _ in 0..<100 { await passBy().death() }
  }

  @Test("an executor may run a worker within enqueue, however many wait", arguments: [false, true])
  func inline(isHubs: Bool) async {
    let hub = DelegateHub(.init(executor: isHubs ? PromptExecutor() : nil))
    hub.cast(1_000, on: isHubs ? nil : PromptExecutor())
    #expect(await hub.listeners.notifyAndWait { _ in }.handled == 1_000)
    #expect(await hub.listeners.ask(combining: .sum()) { (_) async in 1 } == 1_000)
  }

  /// An actor that lives on a dispatch queue.
  private actor Tenant {
    private let executor: DispatchQueueExecutor
    private(set) var visits = 0

    init(on executor: DispatchQueueExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func visit() -> String {
      dispatchPrecondition(condition: .onQueue(executor.queue))
      visits += 1
      return MarkedQueue.current
    }
  }

  @Test("a dispatch queue runs tasks and an actor, which is isolated there and nowhere else")
  func dispatchQueue() async {
    let executor = DispatchQueueExecutor(MarkedQueue.make("home"))
    let tenant = Tenant(on: executor)
    let places = await withTaskGroup { group in
      for number in 0..<100 {
        group.addTask(executorPreference: number % 2 == 0 ? executor : nil) {
          await tenant.visit()
        }
      }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(places == ["home"])
    let visited = await withCheckedContinuation { continuation in
      executor.queue.async {
        continuation.resume(returning: tenant.assumeIsolated { $0.visit() + "\($0.visits)" })
      }
    }
    #expect(visited == "home101")
    await #expect(processExitsWith: .failure) {
      Tenant(on: DispatchQueueExecutor(DispatchQueue(label: "home"))).preconditionIsolated()
    }
  }
}

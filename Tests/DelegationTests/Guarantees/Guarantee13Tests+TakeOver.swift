import Delegation
import Testing

/// Another object with the same `id:`.
extension Guarantee13Tests {
  @Test("one that is subscribed and takes an id keeps its mailbox: the other's is cancelled")
  func displacing() {
    let probes = Probe.many(2)
    let displaced = stage.hub.subscribe(probes[0], to: Listener.self, id: "a")
    stage.listeners.notify { $0.log.record(1) }
    let token = stage.hub.subscribe(probes[1], to: Listener.self)
    stage.listeners.notify { $0.log.record(2) }
    #expect(stage.hub.subscribe(probes[1], to: Listener.self, id: "a") == token)
    stage.listeners.notify { $0.log.record(3) }
    stage.run()
    #expect(!displaced.isActive && probes.map(\.log.history) == [[], [2, 3]])
    #expect(stage.counted == counts(handled: 2, cancelled: 2))
  }

  /// Does something whenever it is given a job.
  private final class ObservedExecutor: TaskExecutor {
    // So that nobody replaces it while the handler of another thread is begun.
    private let pool = ThreadPool(threads: 1)
    private let onJob: @Sendable (_ number: Int) -> Void
    private let jobs = Guarded(0)

    init(onJob: @escaping @Sendable (Int) -> Void) { self.onJob = onJob }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0 += 1 }
      onJob(jobs.withLock { $0 })
      pool.enqueue(ExecutorJob(job))
    }
  }

  @Test("what one is about to handle is not lost if it is replaced", arguments: [false, true])
  func aboutToHandle(awaits: Bool) async {
    // The job in whose `enqueue` it is replaced.
    for number in 1...6 {
      let (hub, probes) = (Guarded<DelegateHub?>(nil), Probe.many(2))
      let executor = ObservedExecutor { job in
        guard job == number else { return }
        hub.withLock { $0 }?.subscribe(probes[1], to: Listener.self, id: "seat")
      }
      let made = DelegateHub(.init(executor: executor, onIncident: { _ in }))
      hub.withLock { $0 = made }
      made.subscribe(probes[0], to: Listener.self, id: "seat")
      if awaits {
        made.listeners.notify { _ in await Task.yield() }
      } else {
        made.listeners.notify { _ in }
      }
      await made.drain()
      #expect(made.counted == counts(handled: 1), "replaced with job \(number)")
      // Otherwise the executor keeps it.
      _ = hub.take()
    }
  }

  @Test("drain does not return while a successor takes over what waits")
  func drain() async {
    let pool = ThreadPool(threads: 3)
    for round in races(20) {
      let (hub, former, successor) = (DelegateHub(on: pool), Probe("former"), Probe("successor"))
      let begun = Gate()
      let token = hub.subscribe(former, to: Listener.self, id: "seat")
      // Its worker leaves as soon as the take-over has begun, which drops many.
      hub.listeners.notify { _ in
        begun.arrive()
        while token.isActive { await Task.yield() }
      }
      for _ in 0..<20_000 { hub.listeners.notify { _ in } }
      await begun.arrivals()
      let takeOver = Task.detached(executorPreference: pool) {
        _ = hub.subscribe(successor, to: Listener.self, id: "seat", mailbox: .dropOldest(limit: 3))
      }
      #expect(await hub.drain().isEmpty)
      let left = hub.counted
      #expect(left.waiting + left.handling == 0, "round \(round): \(left)")
      await takeOver.value
    }
  }

  @Test("what a worker has taken for one that only the hub keeps is not lost when it is replaced")
  @MainActor
  func keptByTheHub() async {
    let delegates = Delegates<any Hearing>()
    let lifetimes = Lifetimes()
    let heard = Recorder<Int>()
    func subscribe() -> DelegateHub.Subscription {
      let hearer = Hearer { [tracked = lifetimes.make()] _ in _ = tracked }
      return delegates.registry.subscribe(hearer, id: "audit", hold: .strongly)
    }
    let token = subscribe()
    // Its handler waits for this actor until this function awaits.
    let outcome = Task.detached {
      await delegates.notifyAndWait { @MainActor _ in heard.record(1) }
    }
    while token.statistics.running == 0 { Threads.pause() }
    let heir = subscribe()
    let counts = await outcome.value
    #expect(counts.isHandled && heard.events == [1], "\(counts)")
    heir.cancel()
    await delegates.hub.drain()
    await lifetimes.shrink()
  }
}

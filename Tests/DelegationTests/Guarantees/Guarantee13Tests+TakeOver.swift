import Delegation
import Testing

/// Another object with the same `id:`.
extension Guarantee13Tests {
  @Test(
    "the newest of those with equal ids is subscribed, in the older one's place, with what waited")
  func takesOver() {
    let (probes, newer) = (Probe.many(3), Probe("newer"))
    let tokens = probes.map { stage.hub.subscribe($0, to: Listener.self, id: $0.name) }
    stage.listeners.notify { $0.log.record(1) }
    let replacing = stage.hub.subscribe(newer, to: Listener.self, id: "1")
    stage.listeners.notify { $0.log.record(2) }
    #expect(tokens.map(\.isActive) == [true, false, true] && replacing != tokens[1])
    #expect(stage.hub.subscribe(newer, to: Listener.self, id: "1") == replacing)
    stage.run()
    #expect(stage.listeners.subscribers.map(\.name) == ["0", "newer", "2"])
    #expect((probes + [newer]).map(\.log.history) == [[1, 2], [], [1, 2], [1, 2]])
    #expect(stage.counted == counts(handled: 6))
  }

  @Test(
    "one that is subscribed and takes an id keeps its mailbox: what waited for the other is cancelled"
  )
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

  @Test(
    "a take-over amid the handling loses nothing, and tells nothing twice, whatever the limit",
    arguments: [nil, 1000])
  func amidTheHandling(limit: Int?) async {
    for round in rounds(50) {
      let (hub, probes) = (DelegateHub(), Probe.many(3))
      let policy = limit.map { DelegateHub.MailboxPolicy.dropOldest(limit: $0) }
      hub.subscribe(probes[0], to: Listener.self, id: "a", mailbox: policy)
      for number in 0..<200 { hub.listeners.notify { $0.log.record(number) } }
      for (former, heir) in zip(probes, probes.dropFirst()) {
        _ = await former.log.history(of: 1 + round % 50)
        hub.subscribe(heir, to: Listener.self, id: "a", mailbox: policy)
      }
      await hub.drain()
      #expect(probes.flatMap(\.log.history).sorted() == Array(0..<200))
      #expect(probes.allSatisfy { $0.log.history == $0.log.history.sorted() })
      #expect(hub.counted == counts(handled: 200))
    }
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
      onJob(
        jobs.withLock {
          $0 += 1; return $0
        })
      pool.enqueue(ExecutorJob(job))
    }
  }

  @Test(
    "a notification that an object is about to handle is not lost, if it is replaced and released then",
    arguments: [false, true])
  func aboutToHandle(awaits: Bool) async {
    // The job in whose `enqueue` it is replaced.
    for number in 1...6 {
      let (hub, probe) = (Guarded<DelegateHub?>(nil), Guarded<Probe?>(Probe()))
      let (successor, isReplaced) = (Probe("successor"), Guarded(false))
      let executor = ObservedExecutor { job in
        guard job == number else { return }
        hub.withLock { $0 }?.subscribe(successor, to: Listener.self, id: "seat")
        _ = probe.take()
        isReplaced.withLock { $0 = true }
      }
      let made = DelegateHub(.init(executor: executor, onIncident: { _ in }))
      hub.withLock { $0 = made }
      if let probe = probe.withLock({ $0 }) { made.subscribe(probe, to: Listener.self, id: "seat") }
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

  @Test("one whose handler waits for the main actor stays the older one's, and is told once")
  @MainActor
  func onTheMainActor() async {
    for round in rounds(20) {
      let (hub, probes) = (DelegateHub(), Probe.many(3))
      hub.subscribe(probes[0], to: Listener.self, id: "a")
      hub.listeners.notify { @MainActor in $0.log.record(1) }
      hub.listeners.notify { $0.log.record(2) }
      hub.listeners.notify { @MainActor in $0.log.record(3) }
      // This test occupies the main actor, for which the worker comes to wait.
      Threads.pause(round * 10)
      for probe in probes.dropFirst() { hub.subscribe(probe, to: Listener.self, id: "a") }
      #expect(await hub.drain().isEmpty)
      #expect(probes.flatMap(\.log.history) == [1, 2, 3], "each in its place")
      #expect(hub.counted == counts(handled: 3))
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
}

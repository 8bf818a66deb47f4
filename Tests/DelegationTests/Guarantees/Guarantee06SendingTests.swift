import Testing

@testable import Delegation

@Suite("Guarantee 6: apart, though an executor takes its time with `enqueue`", .inTurn)
struct Guarantee06SendingTests {
  private static let pool = ThreadPool(threads: 4)
  /// So that nobody cancels while the handler of another thread is begun.
  private static let single = ThreadPool(threads: 1)

  /// Runs jobs where it is asked for them, as some wrappers do.
  private final class InPlaceExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Does something whenever it is given a job.
  private final class ObservedExecutor: TaskExecutor {
    private let pool: ThreadPool
    private let onJob: @Sendable () -> Void

    init(on pool: ThreadPool, onJob: @escaping @Sendable () -> Void) {
      self.pool = pool
      self.onJob = onJob
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      onJob()
      pool.enqueue(ExecutorJob(job))
    }
  }

  @Test("one that blocks within `enqueue` holds up nobody but those that need it", arguments: 0..<4)
  func blocking(place: Int) async {
    let hub = DelegateHub(on: Self.pool)
    let blockade = Blockade()
    let probes = Probe.many(4)
    for (number, probe) in probes.enumerated() {
      switch number {
      case place: hub.subscribe(probe, to: Listener.self, on: InPlaceExecutor())
      case 3, 0: hub.subscribe(probe, to: Listener.self)
      default: hub.subscribe(probe, to: Listener.self, on: LaneTaskExecutor(Lane("\(number)")))
      }
    }
    hub[Listener.self].notify() { probe in
      if probe.name == "\(place)" { blockade.enter() }
      probe.log.record(1)
    }
    await blockade.entry()
    for probe in probes where probe.name != "\(place)" {
      #expect(await probe.log.history(of: 1) == [1])
    }
    #expect(probes[place].log.history == [])
    #expect(blockade.end(), "somebody waited for the blocked one")
    await hub.drain()
    #expect(probes[place].log.history == [1])
  }

  @Test(
    "a notification that an object is about to handle is not lost, if it is replaced and released then",
    arguments: [false, true])
  func replacedMeanwhile(awaits: Bool) async {
    // The job in whose `enqueue` it is replaced.
    for number in 1...8 {
      let hub = Lock<DelegateHub?>(nil)
      let probe = Lock<Probe?>(Probe())
      let obituary = probe.withLock { $0.map { Obituary(of: $0) } }
      let successor = Probe("successor")
      let jobs = Count()
      let executor = ObservedExecutor(on: Self.single) {
        jobs.add(1)
        guard jobs.value == number else { return }
        hub.withLock { $0 }?.subscribe(successor, to: Listener.self, id: "seat")
        let replaced = probe.withLock { $0.take() }
        withExtendedLifetime(replaced) {}
      }
      // With a clock of its own the watch, which is begun right before the handler, runs on the executor, too.
      let made = DelegateHub(
        .init(
          executor: executor, clock: ManualClock(), onIncident: { _ in }, slowAfter: .seconds(1000))
      )
      hub.withLock { $0 = made }
      if let probe = probe.withLock({ $0 }) {
        made.subscribe(probe, to: Listener.self, id: "seat")
      }
      if awaits {
        made[Listener.self].notify() { _ in await Task.yield() }
      } else {
        made[Listener.self].notify() { _ in }
      }
      await made.drain()
      let counts = await made.statistics().counts
      #expect(counts.handled == 1, "replaced with job \(number) of \(jobs.value): \(counts)")
      // Otherwise the executor keeps it.
      _ = hub.withLock { $0.take() }
      if jobs.value >= number { await obituary?.death() }
      withExtendedLifetime(successor) {}
    }
  }

  @Test(
    "no handler begins after its subscription was cancelled, though the watch for slow ones is begun",
    arguments: [false, true])
  func cancelledMeanwhile(isQuestion: Bool) async {
    // The job in whose `enqueue` it is cancelled. The later ones of a question are of handlers that have begun.
    for number in 1...(isQuestion ? 3 : 8) {
      let subscription = Lock<DelegateHub.Subscription?>(nil)
      let jobs = Count()
      let isCancelled = Count()
      let executor = ObservedExecutor(on: Self.single) {
        jobs.add(1)
        guard jobs.value == number else { return }
        subscription.withLock { $0 }?.cancel()
        isCancelled.add(1)
      }
      var configuration = DelegateHub.Configuration()
      configuration.slowAfter = .seconds(1000)
      // With a clock of its own the watch runs on the hub's executor, too.
      configuration.clock = ManualClock()
      configuration.executor = executor
      let hub = DelegateHub(configuration)
      let (probe, other) = (Probe("probe"), Probe("other"))
      let made = hub.subscribe(probe, to: Listener.self)
      hub.subscribe(other, to: Listener.self)
      subscription.withLock { $0 = made }
      let begun = Recorder<Int>()
      if isQuestion {
        _ = await hub[Listener.self].vote() { probe in
          if probe.name == "probe" { begun.record(isCancelled.value) }
          return true
        }
      } else {
        hub[Listener.self].notify() { probe in
          if probe.name == "probe" { begun.record(isCancelled.value) }
        }
        await hub.drain()
      }
      // The executor keeps it, and it the hub's executor.
      _ = subscription.withLock { $0.take() }
      #expect(!begun.history.contains(1), "cancelled with job \(number) of \(jobs.value)")
    }
  }
}

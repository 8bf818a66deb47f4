import Delegation
import Synchronization
import Testing

@Suite("Samples of testing", .inTurn)
struct TestingSamples {
  private protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) async -> Bool
    func didEnter(_ guest: String)
  }

  // sample: A spy
  final class Spy: DoorDelegate {
    private let seen = Mutex<[String]>([])
    var guests: [String] { seen.withLock { $0 } }

    func mayEnter(_ guest: String) async -> Bool { guest != "Mallory" }
    func didEnter(_ guest: String) { seen.withLock { $0.append(guest) } }
  }
  // end of sample

  // sample: An executor
  /// Runs its tasks only when told to, on the thread that tells it.
  final class ManualExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
    }

    /// Runs jobs until none is left.
    func run() {
      while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }
  // end of sample

  // sample: A clock
  /// A clock that stands still until it is advanced.
  final class ManualClock: Clock {
    struct Instant: InstantProtocol {
      var offset = Duration.zero
      func advanced(by duration: Duration) -> Self { Self(offset: offset + duration) }
      func duration(to other: Self) -> Duration { other.offset - offset }
      static func < (left: Self, right: Self) -> Bool { left.offset < right.offset }
    }

    private struct State {
      var now = Instant()
      var alarms: [(time: Instant, bell: AsyncStream<Never>.Continuation)] = []
    }

    private let state = Mutex(State())
    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      let (ringing, bell) = AsyncStream.makeStream(of: Never.self)
      let isDue = state.withLock { state in
        if deadline > state.now { state.alarms.append((deadline, bell)) }
        return deadline <= state.now
      }
      if isDue { return }
      for await _ in ringing {}  // ends when the bell finishes, or the task is cancelled
      try Task.checkCancellation()
    }

    func advance(by duration: Duration) {
      let due = state.withLock { state in
        state.now = state.now.advanced(by: duration)
        defer { state.alarms.removeAll { $0.time <= state.now } }
        return state.alarms.filter { $0.time <= state.now }
      }
      for alarm in due { alarm.bell.finish() }
    }
  }
  // end of sample

  @Test("drain, then look")
  func drain() async {
    // sample: Drain
    let hub = DelegateHub()
    let spy = Spy()
    hub.subscribe(spy, to: DoorDelegate.self)

    hub.notify(DoorDelegate.self) { $0.didEnter("Alice") }

    #expect(await hub.drain(within: .seconds(60)).isEmpty)
    #expect(spy.guests == ["Alice"])
    // end of sample
  }

  @Test("by hand, on one thread")
  func byHand() {
    let spy = Spy()
    // sample: By hand
    let executor = ManualExecutor()
    var configuration = DelegateHub.Configuration()
    configuration.executor = executor
    let hub = DelegateHub(configuration)
    hub.subscribe(spy, to: DoorDelegate.self)

    hub.notify(DoorDelegate.self) { $0.didEnter("Alice") }
    #expect(spy.guests == [])  // nothing runs before it is told to

    executor.run()
    #expect(spy.guests == ["Alice"])
    // end of sample
  }

  private final class Sleeper: DoorDelegate {
    private let forever = AsyncStream.makeStream(of: Never.self)

    func mayEnter(_ guest: String) async -> Bool {
      for await _ in forever.stream {}
      return true
    }
    func didEnter(_ guest: String) {}
  }

  @Test("a deadline, without waiting for it")
  func deadline() {
    let sleeper = Sleeper()
    // sample: A deadline
    let (executor, clock) = (ManualExecutor(), ManualClock())
    var configuration = DelegateHub.Configuration()
    configuration.executor = executor
    configuration.clock = clock
    let hub = DelegateHub(configuration)
    hub.subscribe(sleeper, to: DoorDelegate.self)  // does not answer

    let outcome = Mutex<Bool?>(nil)
    Task(executorPreference: executor) {
      let answer = await hub.vote(
        DoorDelegate.self, within: .seconds(5), absent: .counts(as: false)
      ) { await $0.mayEnter("Alice") }
      outcome.withLock { $0 = answer }
    }
    executor.run()  // as far as it goes: the question waits
    clock.advance(by: .seconds(4))
    executor.run()
    #expect(outcome.withLock { $0 } == nil)

    clock.advance(by: .seconds(1))
    executor.run()
    #expect(outcome.withLock { $0 } == false)
    // end of sample
  }
}

import DelegationTesting
import Dispatch
import Testing

/// A fault in a user's delegate that the page finds, and its cure.
@Suite("Samples of exploring schedules", .inTurn)
struct ExploringSamples {
  private protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) async -> Bool
  }

  // sample: A delegate with a fault
  actor GuestList {
    private let names: Set<String>
    init(_ names: Set<String>) { self.names = names }
    func contains(_ guest: String) -> Bool { names.contains(guest) }
  }

  actor Bouncer: DoorDelegate {
    private let list = GuestList(["Alice", "Bob"])
    private var seatsLeft = 1

    func mayEnter(_ guest: String) async -> Bool {
      guard seatsLeft > 0 else { return false }  // checks,
      guard await list.contains(guest) else { return false }  // awaits,
      seatsLeft -= 1  // and acts
      return true
    }
  }
  // end of sample

  // sample: A scenario
  struct Overfull: Error {}

  @Sendable func oneSeat(_ executor: SeededExecutor) async throws {
    let hub = DelegateHub(on: executor, clock: executor.clock)
    hub.subscribe(Bouncer(), to: DoorDelegate.self, hold: .strongly)

    async let alice = hub[DoorDelegate.self].vote { await $0.mayEnter("Alice") }
    async let bob = hub[DoorDelegate.self].vote { await $0.mayEnter("Bob") }

    if await (alice, bob) == (true, true) { throw Overfull() }
  }
  // end of sample

  @Test("a fault is found by a seed, which shows it again")
  func fault() throws {
    // sample: The fault is found
    let failure = #expect(throws: ScheduleFailure.self) {
      try exploreSchedules(seeds: 0..<10_000, oneSeat)
    }
    // end of sample
    let seed = try #require(failure?.seed)
    #expect(failure?.error is Overfull)
    for _ in 0..<10 {
      let again = #expect(throws: ScheduleFailure.self) {
        try replaySchedule(seed: seed, oneSeat)
      }
      #expect(again?.error is Overfull && again?.steps == failure?.steps)
      #expect(again?.foreignJobs == 0)
    }
  }

  @Test("on a queue of its own a fault is found as well")
  func onAQueue() async {
    let failure = await #expect(throws: ScheduleFailure.self) {
      // sample: Off the pool
      let queue = DispatchQueueExecutor(DispatchQueue(label: "exploring"))
      _ = try await withTaskExecutorPreference(queue) {
        try exploreSchedules(seeds: 0..<10_000, oneSeat)
      }
      // end of sample
    }
    #expect(failure?.error is Overfull)
  }

  /// The delegate with the cure.
  private enum Cured {
    actor Bouncer: DoorDelegate {
      private let list = GuestList(["Alice", "Bob"])
      private var seatsLeft = 1

      func mayEnter(_ guest: String) async -> Bool {
        guard seatsLeft > 0 else { return false }
        seatsLeft -= 1  // taken before anybody else can come
        if await list.contains(guest) { return true }
        seatsLeft += 1
        return false
      }
    }
  }

  @Test("with the cure no schedule fails")
  func cure() throws {
    typealias Bouncer = Cured.Bouncer
    // sample: Exploring
    try exploreSchedules(seeds: 0..<10_000) { executor in
      let hub = DelegateHub(on: executor, clock: executor.clock)
      hub.subscribe(Bouncer(), to: DoorDelegate.self, hold: .strongly)
      async let alice = hub[DoorDelegate.self].vote { await $0.mayEnter("Alice") }
      async let bob = hub[DoorDelegate.self].vote { await $0.mayEnter("Bob") }
      let admitted = await [alice, bob]
      try #require(admitted.contains(true) && admitted.contains(false))
    }
    // end of sample
  }

  @Test("what takes part")
  func takingPart() throws {
    let events = Recorder<String>()
    try replaySchedule(seed: 1) { executor in
      // sample: What takes part
      await withTaskGroup { group in
        group.addTask { events.record("a child") }  // inherits the executor
        group.addTask { events.record("another") }
      }
      let task = Task(executorPreference: executor) { events.record("a task") }
      await task.value
      // end of sample
    }
    #expect(events.events.sorted() == ["a child", "a task", "another"])
  }
}

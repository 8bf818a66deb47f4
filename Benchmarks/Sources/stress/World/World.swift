import Delegation
import Dispatch
import Foundation
import Synchronization

/// What all parts have in common.
final class World: Sendable {
  /// The hub that most parts share, each with protocols of its own.
  let hub: DelegateHub
  let tally = Tally()
  let violations = Violations()
  /// When all parts end.
  let limits: Limits
  /// What everybody's behaviour is drawn from.
  let seed: UInt64
  /// How many tasks each part has.
  let tasks: Int
  /// How many threads besides.
  let threads: Int

  /// Failed notifications that the hub has reported, and incidents of any kind that it left out.
  let reported = Counter()
  let leftOut = Counter()
  /// Subscribers that are in memory.
  let alive = Counter()
  /// Those that share this world, until they are audited.
  let parts = Mutex<[any Part]>([])

  /// Where some handlers run.
  let queue = DispatchQueueExecutor(DispatchQueue(label: "stress"))

  private let isOver = Atomic<Bool>(false)

  init(seed: UInt64, tasks: Int, threads: Int, limits: Limits) {
    (self.seed, self.tasks, self.threads, self.limits) = (seed, tasks, threads, limits)
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { [reported, leftOut, violations] incident in
      leftOut.add(incident.leftOut)
      guard let error = incident.error, [.notify, .notifyAndWait].contains(incident.call) else {
        return
      }
      reported.add()
      violations.check(error is Refusal, "reported was another error than thrown")
    }
    hub = DelegateHub(configuration)
  }

  /// Random numbers for one of those who act in a part.
  func dice(_ part: String, _ index: Int) -> Dice {
    let name = part.utf8.reduce(5381 as UInt64) { $0 &* 33 &+ UInt64($1) }
    return Dice(seed: seed &* 1_000_003 &+ name &* 31 &+ UInt64(index))
  }

  /// Has so many tasks act at once, until they have ended.
  func act(
    _ part: String, _ number: Int? = nil,
    _ body: @escaping @Sendable (Int, inout Dice) async -> Void
  ) async {
    await withTaskGroup { group in
      for index in 0..<(number ?? tasks) {
        group.addTask {
          var dice = self.dice(part, index)
          await body(index, &dice)
        }
      }
    }
  }

  /// Has a thread of its own do something; the task ends when it has.
  func thread(_ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
    let (isDone, end) = AsyncStream.makeStream(of: Void.self)
    let thread = Thread {
      body()
      end.finish()
    }
    thread.stackSize = 1 << 20
    thread.start()
    return Task { for await _ in isDone {} }
  }

  /// Whether handlers shall be plain and short, for a count to be taken.
  var isCalm: Bool { isOver.load(ordering: .acquiring) }

  /// Has all handlers be plain and short from now on.
  func calmDown() { isOver.store(true, ordering: .releasing) }
}

/// What a handler throws.
struct Refusal: Error {}

/// Counts as a subscriber in memory while it is there.
final class Life: Sendable {
  private let world: World

  init(in world: World) {
    self.world = world
    world.alive.add()
  }

  deinit { world.alive.add(-1) }
}

/// When the parts end.
final class Limits: Sendable {
  private let end: ContinuousClock.Instant?
  private let number: Atomic<Int>

  init(duration: Duration?, events: Int?) {
    end = duration.map { .now + $0 }
    number = Atomic(events ?? .max)
  }

  /// How many events are left.
  var left: Int { number.load(ordering: .relaxed) }

  var isReached: Bool { left <= 0 || end.map { .now >= $0 } ?? false }

  /// Takes one event from those that are left; returns whether there was one.
  func take() -> Bool {
    number.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 && !isReached
  }
}

/// One part of a run: protocols of its own, and its own account of what has to come of them.
protocol Part: Sendable {
  /// What it is about, for the report.
  static var name: String { get }

  /// Prepares it, with those who are there from beginning to end.
  init(in world: World)

  /// Goes on until the limits are reached, and ends what it has begun.
  func run() async

  /// Holds the hub's account against its own, when the hub has come to rest.
  func audit() async

  /// What has come of it so far, in a line.
  var sum: String { get }
}

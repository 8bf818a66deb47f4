import Delegation
import Dispatch
import Synchronization

/// What all who take part have in common.
final class World: Sendable {
  /// The hub that is stressed.
  let hub: DelegateHub
  /// What was counted.
  let tally = Tally()
  /// What went wrong.
  let violations = Violations()
  /// From posting to handling, of all who do not sleep on the job.
  let latencies = Latencies()
  /// The same, of residents that do next to nothing.
  let promptLatencies = Latencies()
  /// What it all depends on, but for the machine's own timing.
  let seed: UInt64
  /// How many producers there are.
  let producers: Int

  private let alive = Atomic<Int>(0)
  private let lastNumber = Atomic<Int>(0)
  private let isOver = Atomic<Bool>(false)

  /// Makes a world with a hub that nobody has subscribed to.
  ///
  /// - Parameters:
  ///   - seed: what it all depends on.
  ///   - producers: how many there will be.
  init(seed: UInt64, producers: Int) {
    self.seed = seed
    self.producers = producers
    var configuration = DelegateHub.Configuration()
    configuration.onIncident = { [tally, violations] incident in
      tally.count(.leftOut, incident.leftOut)
      guard let error = incident.error, [.notify, .notifyAndWait].contains(incident.call) else {
        return
      }
      tally.count(.reported)
      violations.check(error is Refusal, "reported was another error than thrown")
    }
    hub = DelegateHub(configuration)
  }

  /// The monotonic clock's reading.
  static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

  /// How many subscribers are in memory.
  var population: Int { alive.load(ordering: .acquiring) }

  /// Counts a birth.
  ///
  /// - Returns: the newborn's number.
  func wasBorn() -> Int {
    alive.wrappingAdd(1, ordering: .relaxed)
    return lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Counts a death.
  func hasDied() { alive.wrappingSubtract(1, ordering: .acquiringAndReleasing) }

  /// Whether handlers shall be plain and short, for a count to be taken.
  var isCalm: Bool { isOver.load(ordering: .acquiring) }

  /// Has all handlers be plain and short from now on.
  func calmDown() { isOver.store(true, ordering: .releasing) }
}

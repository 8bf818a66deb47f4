import Dispatch
import Synchronization

@testable import Delegation

/// What the members of a quiz subscribe to.
protocol QuizVoter: AnyObject, Sendable {
  var record: QuizRecord { get }
}

/// What some of them conform to as well.
protocol QuizSpeaker: AnyObject, Sendable {
  var record: QuizRecord { get }
}

/// A subscriber that lives as long as somebody but the hub keeps it.
class QuizMember: QuizVoter, @unchecked Sendable {
  let record: QuizRecord

  init(_ record: QuizRecord) {
    self.record = record
    record.alive.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  deinit {
    record.alive.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }
}

/// A subscriber that conforms to the further protocol, too.
final class QuizSpeakingMember: QuizMember, QuizSpeaker, @unchecked Sendable {}

/// What is known of a member, also when it is dead.
///
/// The moments are numbers of a clock that ticks at each look; 0 is never.
final class QuizRecord: Sendable {
  /// Where a member's handlers run.
  enum Place: Sendable, CaseIterable {
    case anywhere, pool, queue
  }

  /// The order in which the members of a world have subscribed.
  let serial: Int
  let priority: Int
  let speaks: Bool
  let place: Place
  /// Whether nobody ends it before the world does.
  let isAnchor: Bool
  /// How many of its handlers are running.
  let running = Atomic<Int>(0)
  /// How many such members are alive: 1 or 0.
  let alive = Atomic<Int>(0)
  /// When it was about to subscribe.
  let subscribing: Int
  /// When somebody was about to end it.
  let ending = Atomic<Int>(0)
  /// When it was ended for sure, so that no call begins on it.
  let ended = Atomic<Int>(0)
  /// Whether a `cancelAndWait()` that waits for every handler has returned.
  let isSilenced = Atomic<Bool>(false)

  init(serial: Int, priority: Int, speaks: Bool, place: Place, isAnchor: Bool) {
    self.serial = serial
    self.priority = priority
    self.speaks = speaks
    self.place = place
    self.isAnchor = isAnchor
    subscribing = QuizClock.tick()
  }

  /// Whether somebody has begun to end it.
  var isEnding: Bool { ending.load(ordering: .sequentiallyConsistent) > 0 }

  /// Notes that it is about to be ended.
  ///
  /// - Returns: whether nobody else has begun that.
  func beginEnding() -> Bool {
    ending.compareExchange(
      expected: 0, desired: QuizClock.tick(), ordering: .sequentiallyConsistent
    ).exchanged
  }

  /// Notes that it has been ended.
  func noteEnded() {
    ended.store(QuizClock.tick(), ordering: .sequentiallyConsistent)
  }
}

extension QuizRecord: Comparable {
  /// By the order in which they are asked.
  static func < (lhs: QuizRecord, rhs: QuizRecord) -> Bool {
    (-lhs.priority, lhs.serial) < (-rhs.priority, rhs.serial)
  }

  static func == (lhs: QuizRecord, rhs: QuizRecord) -> Bool { lhs === rhs }
}

extension QuizRecord: CustomStringConvertible {
  var description: String {
    "#\(serial)(\(priority)\(speaks ? " speaks" : "")\(isAnchor ? " anchor" : "") \(place)"
      + "\(isEnding ? " ending" : ""))"
  }
}

/// Says what came before what.
enum QuizClock {
  private static let ticks = Atomic<Int>(0)

  static func tick() -> Int {
    ticks.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
  }
}

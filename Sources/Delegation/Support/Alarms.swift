/// The actions of deadlines, and the sleepers that wake for them.
///
/// Invariant: while an alarm is set, a sleeper wakes no later than the earliest alarm.
struct Alarms: Sendable {
  /// By time, and those of one time by their numbers; without an action if it was cancelled.
  ///
  /// A deadline is mostly later than those before it, so its place is near the end. Cancelled alarms stay until they are
  /// more than half: to take each out would be to move those behind it.
  private var alarms: [(time: Duration, number: Int, action: (@Sendable () -> Void)?)] = []
  private var cancelled = 0
  private var lastNumber = 0
  /// Each has the number of the alarm that it was started for, the time when it wakes, and its task once that is known.
  ///
  /// If they are shared, the earliest is last; no two wake at the same time.
  private(set) var sleepers: [(number: Int, time: Duration, task: Task<Void, Never>?)] = []
  /// Whether one sleeper serves several alarms; if not, each alarm has its own, which is cancelled with it.
  private let sharesSleepers: Bool

  init(sharingSleepers sharesSleepers: Bool = true) {
    self.sharesSleepers = sharesSleepers
  }

  /// How many alarms are kept, including cancelled ones.
  ///
  /// For tests.
  var size: Int { alarms.count }

  /// How many alarms are set and neither due nor cancelled.
  ///
  /// For tests.
  var pending: Int { alarms.count - cancelled }

  /// Sets an alarm.
  ///
  /// - Returns: the alarm's number, and whether a sleeper has to be started for it.
  mutating func add(
    _ action: @escaping @Sendable () -> Void, at time: Duration
  ) -> (number: Int, needsSleeper: Bool) {
    lastNumber += 1
    let index = alarms.partitioningIndex { $0.time > time }
    alarms.insert((time, lastNumber, action), at: index)
    if sharesSleepers, wakes(by: time) { return (lastNumber, false) }
    sleepers.append((lastNumber, time, nil))
    return (lastNumber, true)
  }

  /// Notes the task of a sleeper, unless it has ended already.
  mutating func setTask(_ task: Task<Void, Never>, of number: Int) {
    guard let index = sleepers.firstIndex(where: { $0.number == number }) else { return }
    sleepers[index].task = task
  }

  /// Cancels an alarm.
  ///
  /// - Returns: its action, and the task of its sleeper if that is its own: to be released and cancelled outside the
  ///   lock.
  mutating func cancel(
    _ number: Int, at time: Duration
  ) -> (action: (@Sendable () -> Void)?, sleeper: Task<Void, Never>?) {
    let own = sharesSleepers ? nil : sleepers.firstIndex { $0.number == number }
    let sleeper = own.flatMap { sleepers.remove(at: $0).task }
    let index = alarms.partitioningIndex { ($0.time, $0.number) >= (time, number) }
    guard index < alarms.count, alarms[index].number == number,
      let action = alarms[index].action.take()
    else { return (nil, sleeper) }
    cancelled += 1
    if alarms.count > 64, cancelled * 2 > alarms.count {
      alarms = alarms.filter { $0.action != nil }
      cancelled = 0
    }
    return (action, sleeper)
  }

  /// Takes out the due actions when a sleeper wakes.
  ///
  /// - Returns: the due actions, and the time until which this sleeper sleeps again; `nil` if it ends.
  mutating func wake(
    _ number: Int, now: Duration
  ) -> (due: [@Sendable () -> Void], next: Duration?) {
    guard let index = sleepers.firstIndex(where: { $0.number == number }) else { return ([], nil) }
    var sleeper = sleepers.remove(at: index)
    let end = max(sleeper.time, now)
    let passed = alarms.prefix { $0.action == nil || $0.time <= end }.count
    let due = alarms[..<passed].compactMap(\.action)
    cancelled -= passed - due.count
    alarms.removeFirst(passed)
    guard sharesSleepers, let next = alarms.first?.time, !wakes(by: next) else { return (due, nil) }
    sleeper.time = next
    sleepers.append(sleeper)
    return (due, next)
  }

  /// Whether a sleeper wakes by a time.
  private func wakes(by time: Duration) -> Bool {
    sleepers.last.map { $0.time <= time } ?? false
  }
}

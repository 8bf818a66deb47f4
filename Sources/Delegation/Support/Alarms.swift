/// The actions of deadlines, and the sleeper that wakes for them.
///
/// Invariant: while an alarm is set, the sleeper wakes no later than the earliest alarm.
struct Alarms: Sendable {
  /// By time, the earliest first.
  ///
  /// Most are added at its end, as most calls give the same time. Cancelled alarms stay in it until they are more
  /// than half of it.
  private var order: [(time: Duration, number: Int)] = []
  private var actions: [Int: @Sendable () -> Void] = [:]
  private var lastNumber = 0
  /// The sleeper, by the number of the alarm that it was started for, and when it wakes; `nil` if none is needed.
  private(set) var sleeper: (number: Int, time: Duration)?

  /// How many alarms are in the list, including cancelled ones.
  ///
  /// For tests.
  var size: Int { order.count }

  /// How many alarms are set and neither due nor cancelled.
  ///
  /// For tests.
  var pending: Int { actions.count }

  /// Sets an alarm.
  ///
  /// - Returns: the alarm's number, and whether a sleeper has to be started for it, in the present one's place.
  mutating func add(
    _ action: @escaping @Sendable () -> Void, at time: Duration
  ) -> (number: Int, needsSleeper: Bool) {
    lastNumber += 1
    actions[lastNumber] = action
    order.insert((time, lastNumber), at: order.partitioningIndex { $0.time > time })
    if let sleeper, sleeper.time <= time { return (lastNumber, false) }
    sleeper = (lastNumber, time)
    return (lastNumber, true)
  }

  /// Cancels an alarm.
  ///
  /// - Returns: its action, to be released outside the lock.
  mutating func cancel(_ number: Int) -> (@Sendable () -> Void)? {
    guard let action = actions.removeValue(forKey: number) else { return nil }
    if order.count > 64, order.count > actions.count * 2 {
      order.removeAll { actions[$0.number] == nil }
    }
    return action
  }

  /// Takes out the due actions when a sleeper wakes; one that another has taken the place of finds none.
  ///
  /// - Returns: the due actions, and the time until which this sleeper sleeps again; `nil` if it ends.
  mutating func wake(
    _ number: Int, now: Duration
  ) -> (due: [@Sendable () -> Void], next: Duration?) {
    guard let sleeper, sleeper.number == number else { return ([], nil) }
    let time = max(sleeper.time, now)
    let end = order.firstIndex { $0.time > time && actions[$0.number] != nil } ?? order.endIndex
    let due = order[..<end].compactMap { actions.removeValue(forKey: $0.number) }
    order.removeSubrange(..<end)
    self.sleeper = order.first.map { (number, $0.time) }
    return (due, self.sleeper?.time)
  }
}

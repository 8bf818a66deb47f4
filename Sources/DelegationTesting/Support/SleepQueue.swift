/// The sleepers of a clock, by their deadlines.
///
/// The alarm of a cancelled sleeper stays with an invalid ticket; such alarms are removed when more than half of the
/// tickets are invalid.
struct SleepQueue<Sleeper: Sendable>: Sendable {
  private struct Alarm: Sendable, Comparable {
    let deadline: ManualClock.Instant
    let ticket: Int

    static func < (lhs: Alarm, rhs: Alarm) -> Bool {
      lhs.deadline == rhs.deadline ? lhs.ticket < rhs.ticket : lhs.deadline < rhs.deadline
    }
  }

  /// Invariant: the ticket of the first alarm is valid.
  private var alarms = Heap<Alarm>()
  private var sleepers: [Int: Sleeper] = [:]
  private var lastTicket = 0

  var count: Int { sleepers.count }
  var nextDeadline: ManualClock.Instant? { alarms.values.first?.deadline }

  var deadlines: [ManualClock.Instant] {
    alarms.values.filter { sleepers[$0.ticket] != nil }.map(\.deadline).sorted()
  }

  /// How many alarms there are, including those of cancelled sleepers.
  var footprint: Int { alarms.values.count }

  mutating func makeTicket() -> Int {
    lastTicket += 1
    return lastTicket
  }

  mutating func add(
    _ sleeper: Sleeper, until deadline: ManualClock.Instant,
    ticket: Int
  ) {
    sleepers[ticket] = sleeper
    alarms.insert(Alarm(deadline: deadline, ticket: ticket))
  }

  /// Takes out one sleeper, if it still sleeps.
  mutating func remove(_ ticket: Int) -> Sleeper? {
    guard let sleeper = sleepers.removeValue(forKey: ticket) else { return nil }
    tidy()
    return sleeper
  }

  /// Takes out the sleepers whose deadlines have come at a point of time, the earliest first.
  mutating func removeAll(
    until time: ManualClock.Instant
  ) -> [Sleeper] {
    var due: [Sleeper] = []
    while let first = alarms.values.first, first.deadline <= time {
      alarms.removeFirst()
      if let sleeper = sleepers.removeValue(forKey: first.ticket) {
        due.append(sleeper)
      }
    }
    tidy()
    return due
  }

  /// Takes out all sleepers, the earliest deadline first.
  mutating func removeAll() -> [Sleeper] {
    let all = alarms.values.sorted().compactMap { sleepers[$0.ticket] }
    alarms = Heap()
    sleepers = [:]
    return all
  }

  /// Removes invalid alarms: always at the top, elsewhere when there are too many.
  private mutating func tidy() {
    if footprint > 2 * sleepers.count + 8 {
      alarms.removeAll { sleepers[$0.ticket] == nil }
    }
    while let first = alarms.values.first, sleepers[first.ticket] == nil { alarms.removeFirst() }
  }
}

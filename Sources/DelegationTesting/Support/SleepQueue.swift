/// The sleepers of a clock, by their deadlines.
///
/// It is a heap. The alarm of a cancelled sleeper stays in it with a ticket that is no longer valid; the
/// heap is built anew when more than half of its tickets are invalid.
struct SleepQueue<Sleeper: Sendable>: Sendable {
  private struct Alarm: Sendable, Comparable {
    let deadline: ManualClock.Instant
    let ticket: Int

    static func < (lhs: Alarm, rhs: Alarm) -> Bool {
      lhs.deadline == rhs.deadline ? lhs.ticket < rhs.ticket : lhs.deadline < rhs.deadline
    }
  }

  /// Invariant: no alarm is earlier than its parent, and the ticket of the first one is valid.
  private var alarms: [Alarm] = []
  private var sleepers: [Int: Sleeper] = [:]
  private var lastTicket = 0

  var count: Int { sleepers.count }
  var nextDeadline: ManualClock.Instant? { alarms.first?.deadline }

  var deadlines: [ManualClock.Instant] {
    alarms.filter { sleepers[$0.ticket] != nil }.map(\.deadline).sorted()
  }

  /// How many alarms there are, including those of cancelled sleepers.
  var footprint: Int { alarms.count }

  mutating func makeTicket() -> Int {
    lastTicket += 1
    return lastTicket
  }

  mutating func add(
    _ sleeper: Sleeper, until deadline: ManualClock.Instant,
    ticket: Int
  ) {
    sleepers[ticket] = sleeper
    alarms.append(Alarm(deadline: deadline, ticket: ticket))
    var child = alarms.count - 1
    while child > 0, alarms[child] < alarms[(child - 1) / 2] {
      alarms.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Takes out one sleeper, if it still sleeps.
  mutating func remove(_ ticket: Int) -> Sleeper? {
    guard let sleeper = sleepers.removeValue(forKey: ticket) else { return nil }
    tidy()
    return sleeper
  }

  /// Takes out the sleepers whose deadlines are not later than a point of time, the earliest first.
  mutating func removeAll(
    until time: ManualClock.Instant
  ) -> [Sleeper] {
    var due: [Sleeper] = []
    while let first = alarms.first, first.deadline <= time {
      removeFirst()
      if let sleeper = sleepers.removeValue(forKey: first.ticket) {
        due.append(sleeper)
      }
    }
    tidy()
    return due
  }

  /// Takes out all sleepers, the earliest deadline first.
  mutating func removeAll() -> [Sleeper] {
    let all = alarms.sorted().compactMap { sleepers[$0.ticket] }
    alarms = []
    sleepers = [:]
    return all
  }

  /// Removes invalid alarms: always at the top, elsewhere when there are too many.
  private mutating func tidy() {
    if alarms.count > 2 * sleepers.count + 8 {
      alarms.removeAll { sleepers[$0.ticket] == nil }
      // A sorted array is a heap.
      alarms.sort()
    }
    while let first = alarms.first, sleepers[first.ticket] == nil { removeFirst() }
  }

  private mutating func removeFirst() {
    let last = alarms.removeLast()
    if alarms.isEmpty { return }
    alarms[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < alarms.count && alarms[child] < alarms[least] {
        least = child
      }
      if least == parent { return }
      alarms.swapAt(parent, least)
      parent = least
    }
  }
}

/// The actions of deadlines, and the sleeper that wakes for them.
///
/// Invariant: while an alarm is set, the sleeper wakes no later than the earliest alarm.
struct Alarms: Sendable {
  /// A binary heap by time, the earliest first.
  ///
  /// Cancelled alarms stay in it until they are more than half of it.
  private var heap: [(time: Duration, number: Int)] = []
  private var actions: [Int: @Sendable () -> Void] = [:]
  private var lastNumber = 0
  /// The sleeper, by the number of the alarm that it was started for, and when it wakes; `nil` if none is needed.
  private(set) var sleeper: (number: Int, time: Duration)?

  /// How many alarms are in the heap, including cancelled ones.
  ///
  /// For tests.
  var size: Int { heap.count }

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
    heap.append((time, lastNumber))
    siftUp(heap.count - 1)
    if let sleeper, sleeper.time <= time { return (lastNumber, false) }
    sleeper = (lastNumber, time)
    return (lastNumber, true)
  }

  /// Cancels an alarm.
  ///
  /// - Returns: its action, to be released outside the lock.
  mutating func cancel(_ number: Int) -> (@Sendable () -> Void)? {
    guard let action = actions.removeValue(forKey: number) else { return nil }
    if heap.count > 64, heap.count > actions.count * 2 {
      // A sorted array is a heap.
      heap = heap.filter { actions[$0.number] != nil }.sorted { $0.time < $1.time }
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
    var due: [@Sendable () -> Void] = []
    while let first = heap.first {
      if let action = actions[first.number] {
        guard first.time <= max(sleeper.time, now) else { break }
        due.append(action)
        actions[first.number] = nil
      }
      removeFirst()
    }
    self.sleeper = heap.first.map { (number, $0.time) }
    return (due, self.sleeper?.time)
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].time < heap[least].time { least = child }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  private mutating func siftUp(_ index: Int) {
    var child = index
    while child > 0, heap[child].time < heap[(child - 1) / 2].time {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }
}

/// The actions of deadlines, and the times at which sleepers wake.
///
/// Invariant: while an alarm is set, a sleeper wakes no later than the earliest alarm.
struct Alarms<Instant: InstantProtocol>: Sendable {
  /// A binary heap by instant, the earliest first.
  ///
  /// Cancelled alarms stay in it until they are more than half of it.
  private var heap: [(instant: Instant, number: Int)] = []
  private var actions: [Int: @Sendable () -> Void] = [:]
  private var lastNumber = 0
  /// When sleepers wake, the earliest last.
  private var sleepers: [Instant] = []

  init() {}

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
  /// - Returns: the alarm's number, and whether a sleeper has to be started for it.
  mutating func add(
    _ action: @escaping @Sendable () -> Void, at instant: Instant
  ) -> (number: Int, needsSleeper: Bool) {
    lastNumber += 1
    actions[lastNumber] = action
    heap.append((instant, lastNumber))
    siftUp(heap.count - 1)
    if let earliest = sleepers.last, earliest <= instant { return (lastNumber, false) }
    sleepers.append(instant)
    return (lastNumber, true)
  }

  /// Cancels an alarm.
  ///
  /// - Returns: its action, to be released outside the lock.
  mutating func cancel(_ number: Int) -> (@Sendable () -> Void)? {
    guard let action = actions.removeValue(forKey: number) else { return nil }
    if heap.count > 64, heap.count > actions.count * 2 {
      // A sorted array is a heap.
      heap = heap.filter { actions[$0.number] != nil }.sorted { $0.instant < $1.instant }
    }
    return action
  }

  /// Takes out the due actions when a sleeper wakes.
  ///
  /// - Returns: the due actions, and the time until which this sleeper sleeps again; `nil` if it ends.
  mutating func wake(
    at instant: Instant, now: Instant
  ) -> (due: [@Sendable () -> Void], next: Instant?) {
    if let index = sleepers.lastIndex(of: instant) { sleepers.remove(at: index) }
    var due: [@Sendable () -> Void] = []
    while let first = heap.first {
      if let action = actions[first.number] {
        guard first.instant <= max(instant, now) else { break }
        due.append(action)
        actions[first.number] = nil
      }
      removeFirst()
    }
    guard let next = heap.first?.instant, !(sleepers.last.map { $0 <= next } ?? false) else {
      return (due, nil)
    }
    sleepers.append(next)
    return (due, next)
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].instant < heap[least].instant { least = child }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  private mutating func siftUp(_ index: Int) {
    var child = index
    while child > 0, heap[child].instant < heap[(child - 1) / 2].instant {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }
}

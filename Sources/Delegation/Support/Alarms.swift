/// The actions of deadlines, and the sleepers that wake for them.
///
/// Invariant: while an alarm is set, a sleeper wakes no later than the earliest alarm.
struct Alarms: Sendable {
  /// A binary heap by time, the earliest first.
  ///
  /// Cancelled alarms stay in it until they are more than half of it. A sorted array would be shorter, and slower where
  /// it matters: short deadlines, and the watch for slow handlers, come before thousands of long ones.
  private var heap: [(time: Duration, number: Int)] = []
  private var actions: [Int: @Sendable () -> Void] = [:]
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
    _ action: @escaping @Sendable () -> Void, at time: Duration
  ) -> (number: Int, needsSleeper: Bool) {
    lastNumber += 1
    actions[lastNumber] = action
    heap.append((time, lastNumber))
    siftUp(heap.count - 1)
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
    _ number: Int
  ) -> (action: (@Sendable () -> Void)?, sleeper: Task<Void, Never>?) {
    let own = sharesSleepers ? nil : sleepers.firstIndex { $0.number == number }
    let sleeper = own.flatMap { sleepers.remove(at: $0).task }
    let action = actions.removeValue(forKey: number)
    if action != nil, heap.count > 64, heap.count > actions.count * 2 {
      // A sorted array is a heap.
      heap = heap.filter { actions[$0.number] != nil }.sorted { $0.time < $1.time }
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
    var due: [@Sendable () -> Void] = []
    while let first = heap.first {
      if let action = actions[first.number] {
        guard first.time <= max(sleeper.time, now) else { break }
        due.append(action)
        actions[first.number] = nil
      }
      removeFirst()
    }
    guard sharesSleepers, let next = heap.first?.time, !wakes(by: next) else { return (due, nil) }
    sleeper.time = next
    sleepers.append(sleeper)
    return (due, next)
  }

  /// Whether a sleeper wakes by a time.
  private func wakes(by time: Duration) -> Bool {
    sleepers.last.map { $0.time <= time } ?? false
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

/// Which handlers wait for which others: the calls of `drain`, `notifyAndWait` and `cancelAndWait` within
/// handlers, of all hubs.
///
/// A wait outside of handlers is strict, and not in the graph. A wait within a handler does not wait for
/// the handlers of its own chain. Nor does it wait for handlers that already wait, directly or through
/// others, for one of its chain; so two handlers that wait for each other both go on. In each circle the
/// wait that came last gives way. Circles may run through several hubs, so the process has one graph.
///
/// It is searched for the circles of a wait when that begins, and again only when its count has fallen to what
/// was excused then. It is meant for a handful of waits: a search looks at each pair of them at most.
///
/// Invariant: `waits` are in the order of their numbers, which is the order of arrival. What a wait excuses is
/// chosen from the waits before it, so a later wait changes nothing for it. A hand-over of notifications may:
/// then the first wait for one of them is counted anew, and all after it.
struct WaitGraph: Sendable {
  struct Wait: Sendable {
    let number: Int
    let goal: WaitGoal
    let context: HandlerContext
  }

  static let shared = Lock(WaitGraph())

  private(set) var waits: [Wait] = []
  private var lastNumber = 0

  /// Adds a wait.
  ///
  /// - Returns: its number; `nil` if its handler has returned, which makes the wait strict.
  mutating func add(_ goal: WaitGoal, in context: HandlerContext) -> Int? {
    guard context.isRunning else { return nil }
    lastNumber += 1
    waits.append(Wait(number: lastNumber, goal: goal, context: context))
    return lastNumber
  }

  /// Removes a wait that is over.
  ///
  /// - Returns: the wait, to be released outside the lock.
  mutating func remove(_ number: Int) -> Wait? {
    index(of: number).map { waits.remove(at: $0) }
  }

  private func index(of number: Int) -> Int? {
    let index = waits.partitioningIndex { $0.number >= number }
    return index < waits.count && waits[index].number == number ? index : nil
  }

  /// How many of the handlers that a wait's goal counts are excused at the moment.
  func countExcused(by number: Int) -> Int {
    guard let index = index(of: number) else { return 0 }
    // The handlers that cannot go on before the wait ends: its own, and those of earlier waits that wait for one
    // of them.
    var handlers = waits[index].context.chain
    var earlier = waits[..<index]
    var visited = 0
    while visited < handlers.count {
      let handler = handlers[visited]
      visited += 1
      let found = earlier.partition { $0.goal.waits(for: handler) }
      handlers += earlier[found...].flatMap(\.context.chain)
      earlier.removeSubrange(found...)
    }
    let excused = handlers.filter(waits[index].goal.waits)
    // Each count has one for a worker at most, as that runs one handler at a time.
    return Set(excused.map { ObjectIdentifier($0.worker) }).count
  }
}

/// Those who wait for handlers to end: `drain`, `deliver` and `cancelAndWait`.
///
/// Outside of handlers a wait is strict. Within one, it does not wait for the handlers of its own
/// chain; nor, so that two handlers that wait for each other both go on, for those that already wait,
/// directly or through others, for one of its own: of each circle the wait that came last gives way.
struct Waits: Sendable {
  /// What a wait is for.
  enum Goal: Sendable {
    /// That nothing of the hub waits or runs.
    case rest
    /// That no handler of this subscription runs.
    case end(of: SubscriptionNode)
    /// That all to whom a notification was addressed have passed it.
    case passing(of: Receipt)
  }

  struct Wait: Sendable {
    let ticket: Int
    let goal: Goal
    /// The handlers that stand still meanwhile.
    let chain: [HandlerContext]
    /// Lets the waiting one go on; tells whether the goal was reached.
    let resume: @Sendable (Bool) -> Void
  }

  /// In order of arrival.
  private(set) var all: [Wait] = []
  private var lastTicket = 0

  var isEmpty: Bool { all.isEmpty }

  /// A number for a wait, by which it can be removed.
  mutating func makeTicket() -> Int {
    lastTicket += 1
    return lastTicket
  }

  mutating func add(_ wait: Wait) {
    all.append(wait)
  }

  /// Removes a wait, if it has not been fulfilled yet.
  mutating func remove(_ ticket: Int) -> Wait? {
    guard let index = all.firstIndex(where: { $0.ticket == ticket }) else { return nil }
    return all.remove(at: index)
  }

  /// Takes out the waits whose goals are reached.
  ///
  /// - Parameter workers: how many workers the hub has.
  /// - Returns: the waits, to be resumed outside the lock.
  mutating func takeFulfilled(workers: Int) -> [Wait] {
    // Taking one out changes nothing for those before it, and makes those after it wait for more,
    // not for less: so one pass decides all.
    let fates = all.indices.map { isFulfilled(at: $0, workers: workers) }
    guard fates.contains(true) else { return [] }
    let fulfilled = zip(all, fates).filter(\.1).map(\.0)
    all = zip(all, fates).filter { !$0.1 }.map(\.0)
    return fulfilled
  }

  private func isFulfilled(at index: Int, workers: Int) -> Bool {
    let excused = standstill(at: index)
    switch all[index].goal {
    case .rest:
      return workers <= Set(excused.map { ObjectIdentifier($0.worker) }).count
    case .end(let node):
      let own = excused.filter { $0.node === node }
      return node.runningCalls <= Set(own.map { ObjectIdentifier($0.worker) }).count
    case .passing(let receipt):
      let owing = excused.compactMap { $0.attendedNode }
        .filter { receipt.isOutstanding(at: $0) }
      return receipt.outstanding <= Set(owing.map { ObjectIdentifier($0) }).count
    }
  }

  /// The handlers that cannot go on before this wait ends: its own, and those of earlier waits that
  /// wait for it.
  private func standstill(at index: Int) -> [HandlerContext] {
    var handlers = all[index].chain.filter { $0.node != nil }
    guard !handlers.isEmpty else { return [] }
    var rest = all[..<index].filter { !$0.chain.isEmpty }
    while let next = rest.firstIndex(where: { waits($0, for: handlers) }) {
      handlers += rest.remove(at: next).chain.filter { $0.node != nil }
    }
    return handlers
  }

  private func waits(_ wait: Wait, for handlers: [HandlerContext]) -> Bool {
    switch wait.goal {
    case .rest:
      true
    case .end(let node):
      handlers.contains { $0.node === node }
    case .passing(let receipt):
      handlers.contains { context in
        context.attendedNode.map { receipt.isOutstanding(at: $0) } ?? false
      }
    }
  }
}

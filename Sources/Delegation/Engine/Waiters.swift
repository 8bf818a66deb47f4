/// Those who wait for handlers to end: `drain`, `notifyAndWait` and `cancelAndWait`, of all hubs.
///
/// Outside of handlers a wait is strict. Within one, it does not wait for the handlers of its own
/// chain; nor, so that two handlers that wait for each other both go on, for those that already wait,
/// directly or through others, for one of its own: of each circle the wait that came last gives way.
/// Circles may run through several hubs, so there is one list for the process.
struct Waiters: Sendable {
  /// What a wait is for.
  enum Goal: Sendable {
    /// That nothing of a hub waits or runs.
    case rest(of: Inbox)
    /// That no handler of this subscription runs.
    case end(of: SubscriptionNode)
    /// That all to whom a notification was addressed have passed it.
    case passing(of: Receipt)

    /// The hub that it is about.
    var inbox: Inbox {
      switch self {
      case .rest(let inbox): inbox
      case .end(let node): node.inbox
      case .passing(let receipt): receipt.inbox
      }
    }
  }

  struct Wait: Sendable {
    let ticket: Int
    let goal: Goal
    /// The handler that waits, if it is one.
    let context: HandlerContext?
    /// Lets the waiting one go on; tells whether the goal was reached.
    let resume: @Sendable (Bool) -> Void
  }

  static let shared = Lock(Waiters())

  /// In order of arrival.
  private(set) var all: [Wait] = []
  private var lastTicket = 0
  /// Tickets of waits to come, and whether they were given up before they came.
  private var expected: [Int: Bool] = [:]

  /// A number for a wait to come, by which it can be given up.
  mutating func makeTicket() -> Int {
    lastTicket += 1
    expected[lastTicket] = false
    return lastTicket
  }

  /// Adds a wait.
  ///
  /// - Parameter wait: the wait, with a ticket from ``makeTicket()``.
  /// - Returns: whether it was added; it is not if it has been given up.
  mutating func add(_ wait: Wait) -> Bool {
    if expected.removeValue(forKey: wait.ticket) == true { return false }
    all.append(wait)
    return true
  }

  /// Removes a wait that has not been fulfilled, or will not let it be added.
  ///
  /// - Parameter ticket: the wait's ticket.
  /// - Returns: the wait if it was there, to be resumed outside the lock.
  mutating func giveUp(_ ticket: Int) -> Wait? {
    if expected[ticket] != nil {
      expected[ticket] = true
      return nil
    }
    guard let index = all.firstIndex(where: { $0.ticket == ticket }) else { return nil }
    return all.remove(at: index)
  }

  /// Takes out the waits whose goals are reached.
  ///
  /// What happens in one hub fulfils waits for that hub only: another's can by that only come to wait
  /// for more, for handlers return and waits are given up.
  ///
  /// - Parameter inbox: the hub in which something has happened; `nil` for all.
  /// - Returns: the waits, to be resumed outside the lock.
  mutating func takeFulfilled(of inbox: Inbox? = nil) -> [Wait] {
    // Taking one out changes nothing for those before it, and makes those after it wait for more,
    // not for less: so one pass decides all.
    let fates = all.indices.map { index in
      (inbox == nil || all[index].goal.inbox === inbox) && isFulfilled(at: index)
    }
    guard fates.contains(true) else { return [] }
    let fulfilled = zip(all, fates).filter(\.1).map(\.0)
    all = zip(all, fates).filter { !$0.1 }.map(\.0)
    return fulfilled
  }

  /// Whether anybody waits for something of a hub.
  ///
  /// - Parameter inbox: the hub's inbox.
  /// - Returns: whether there is such a wait.
  func concerns(_ inbox: Inbox) -> Bool {
    all.contains { $0.goal.inbox === inbox }
  }

  private func isFulfilled(at index: Int) -> Bool {
    let excused = standstill(at: index)
    switch all[index].goal {
    case .rest(let inbox):
      let own = excused.filter { $0.worker.inbox === inbox }
      return inbox.activity.workers <= Set(own.map { ObjectIdentifier($0.worker) }).count
    case .end(let node):
      let own = excused.filter { $0.node === node }
      return node.runningCalls <= Set(own.map { ObjectIdentifier($0.worker) }).count
    case .passing(let receipt):
      let owing = excused.compactMap(\.attendedNode).filter { receipt.isOutstanding(at: $0) }
      return receipt.outstanding <= Set(owing.map { ObjectIdentifier($0) }).count
    }
  }

  /// The handlers that cannot go on before this wait ends: its own, and those of earlier waits that
  /// wait for it.
  private func standstill(at index: Int) -> [HandlerContext] {
    guard var handlers = all[index].context?.chain, !handlers.isEmpty else { return [] }
    var rest = all[..<index].filter { $0.context != nil }
    while let next = rest.firstIndex(where: { waits($0, for: handlers) }) {
      handlers += rest.remove(at: next).context?.chain ?? []
    }
    return handlers
  }

  private func waits(_ wait: Wait, for handlers: [HandlerContext]) -> Bool {
    switch wait.goal {
    case .rest(let inbox):
      handlers.contains { $0.worker.inbox === inbox }
    case .end(let node):
      handlers.contains { $0.node === node }
    case .passing(let receipt):
      handlers.contains { $0.attendedNode.map { receipt.isOutstanding(at: $0) } ?? false }
    }
  }
}

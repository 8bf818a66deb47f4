@testable import Delegation

/// Waits that handlers begin, without a task in sight, in a graph of their own.
final class HandlerWaits {
  private final class Graph: Sendable {
    let lock = Lock(WaitGraph())
  }

  private struct Wait {
    let goal: WaitGoal
    let waiter: Waiter
    /// What the graph has of it; `nil` if it is strict.
    let entry: WaitGraph.Wait?
  }

  private let graph = Graph()
  private var waits: [Int: Wait] = [:]

  /// Does what a call does that begins to wait.
  ///
  /// - Parameters:
  ///   - ticket: what the test calls this wait.
  ///   - goal: what it waits for.
  ///   - context: the handler that waits.
  func begin(_ ticket: Int, _ goal: WaitGoal, in context: HandlerContext?) {
    let entry = context.flatMap { context in graph.lock.withLock { $0.add(goal, in: context) } }
    // Weakly: what a test leaves waiting would keep the graph, and that it.
    let waiter = Waiter { [weak graph] in
      entry.flatMap { entry in graph?.lock.withLock { $0.countExcused(by: entry) } } ?? 0
    }
    goal.update { $0.add(waiter) }
    waits[ticket] = Wait(goal: goal, waiter: waiter, entry: entry)
  }

  /// Does what those do that have gone on, and gives them in order.
  func takeFulfilled() -> [Int] {
    let fulfilled = waits.filter { $0.value.waiter.outcome == true }.keys.sorted()
    for ticket in fulfilled { remove(ticket) }
    return fulfilled
  }

  /// Gives up a wait.
  ///
  /// - Returns: whether it was there.
  @discardableResult
  func giveUp(_ ticket: Int) -> Bool {
    waits[ticket]?.waiter.resume(false)
    return remove(ticket)
  }

  @discardableResult
  private func remove(_ ticket: Int) -> Bool {
    guard let wait = waits.removeValue(forKey: ticket) else { return false }
    wait.goal.update { $0.remove(wait.waiter) }
    if let entry = wait.entry { graph.lock.withLock { $0.remove(entry) } }
    return true
  }

  /// How many wait within handlers.
  var count: Int { graph.lock.withLock { $0.all.count } }
}

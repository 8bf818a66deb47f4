@testable import Delegation

/// Subscriptions that nobody ever calls.
final class Cast {
  let board = Switchboard()
  let subscribers: [Nobody]
  let nodes: [SubscriptionNode]

  init(_ count: Int) {
    subscribers = (0..<count).map { _ in Nobody() }
    nodes = subscribers.map { [board] in Structures.subscribe($0, in: board) }
  }

  deinit {
    // What rounds have claimed counts as running, and keeps a subscription that has ended.
    for node in nodes {
      while node.runningCalls > 0 { node.endCall() }
    }
    board.clear()
  }
}

@testable import Delegation

/// Subscriptions that nobody ever calls.
final class Cast {
  let inbox = Inbox()
  let subscribers: [Nobody]
  let nodes: [SubscriptionNode]

  init(_ count: Int) {
    subscribers = (0..<count).map { _ in Nobody() }
    nodes = subscribers.map { [inbox] in Structures.subscribe($0, in: inbox) }
  }

  deinit {
    // What rounds have claimed counts as running, and keeps a subscription that has ended.
    for node in nodes {
      while node.runningCalls > 0 { node.endCall() }
    }
    inbox.clear()
  }
}

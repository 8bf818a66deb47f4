import Synchronization
import Testing

@testable import Delegation

/// What threads see of a topic's list while others change it.
@Suite("Storm: lists on several threads", .inTurn(.heavy))
struct TopicStormTests {
  private let board = Board()
  private let wrong = Recorder<String>()

  @Test("a list has every change that was made before, whichever thread made that")
  func changes() {
    defer { board.clear() }
    let subscribers = (0..<Effort.count(5_000)).map { _ in Nobody() }
    let (begun, made, ended, over) = (Count(), Count(), Count(), Count())
    Threads.run(4) { [board, wrong] thread in
      guard thread == 0 else {
        while over.value == 0 {
          let (open, last) = (made.value, ended.value)
          let serials = board.topic.snapshot().map(\.serial)
          let first = begun.value
          // Serials begin with 1. Those between may have ended when the list was merged.
          let isInOrder = zip(serials, serials.dropFirst()).allSatisfy { $0 < $1 }
          let isComplete = first >= open || Set(serials).isSuperset(of: first + 1...open)
          if !isInOrder || !isComplete || serials.first ?? .max <= last {
            return wrong.record("\(last), \(first), \(open): \(serials)")
          }
        }
        return
      }
      var nodes: [SubscriptionNode] = []
      for number in subscribers.indices where wrong.history.isEmpty {
        nodes.append(board.subscribe(subscribers[number]))
        made.add(1)
        // As many as are worth looking at.
        guard number >= 40 else { continue }
        begun.add(1)
        nodes[number - 40].terminate(as: .cancelled)
        ended.add(1)
      }
      over.add(1)
    }
    #expect(wrong.history.isEmpty, "\(wrong.history)")
  }

  @Test("what is posted while a delivery begins is that one's, or has another one requested")
  func deliveries() {
    defer { board.clear() }
    // So many that it takes some time to put them in order.
    let subscribers = (0..<3_000).map { _ in Nobody() }
    for subscriber in subscribers { _ = board.subscribe(subscriber) }
    for round in races(40) {
      let newcomer = Nobody()
      _ = board.subscribe(subscribers[1_000], priority: round % 2 + 1)
      #expect(board.post())
      let (served, begun) = (Recorder<SubscriptionNode>(), Count())
      let outcome = Recorder<(node: SubscriptionNode, isRequested: Bool)>()
      Threads.run(2) { [board] thread in
        if thread == 0 {
          begun.add(1)
          for node in board.beginDelivery() { served.record(node) }
        } else {
          while begun.value == 0 { Threads.pause() }
          let node = board.subscribe(newcomer)
          outcome.record((node, board.post()))
        }
      }
      for (node, isRequested) in outcome.history {
        #expect(isRequested || served.history.contains { $0 === node }, "round \(round)")
        if isRequested { board.beginDelivery() }
        node.terminate(as: .cancelled)
      }
    }
  }
}

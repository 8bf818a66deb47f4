import Synchronization
import Testing

@testable import Delegation

/// What threads see of a topic's list while others change it.
@Suite("Storm: snapshots on several threads", .inTurn(.heavy))
struct SnapshotThreadsStormTests {
  @Test("a thread's snapshot has its own changes, and what others do puts none of them wrong")
  func ownChanges() {
    let topic = Switchboard().topic()
    defer { topic.terminateAll() }
    let wrong = Recorder<String>()
    Threads.run(8) { thread in
      let subscribers = (0..<3).map { _ in Nobody() }
      for round in races(3_000) where wrong.history.isEmpty {
        var own: [SubscriptionNode] = []
        func expect(_ expected: [SubscriptionNode], _ occasion: String) {
          let nodes = topic.snapshot()
          let seen = nodes.filter { node in own.contains { $0 === node } }
          if !seen.elementsEqual(expected, by: ===) {
            wrong.record("thread \(thread), round \(round), \(occasion)")
          }
        }
        own = subscribers.map { topic.subscribe($0) }
        expect(own, "subscribed")
        _ = topic.subscribe(subscribers[2], priority: 1 + round % 2)
        expect([own[2], own[0], own[1]], "with a higher priority")
        own[0].terminate(as: .cancelled)
        expect([own[2], own[1]], "after one's end")
        _ = topic.subscribe(subscribers[2], priority: -1)
        expect([own[1], own[2]], "with a lower priority")
        for node in own { node.terminate(as: .cancelled) }
        expect([], "after all have ended")
      }
    }
    #expect(wrong.history.isEmpty, "\(wrong.history.prefix(3))")
    #expect(topic.snapshot().isEmpty)
  }

  @Test("a snapshot has every change that happened before it, whichever thread made that")
  func othersChanges() {
    let topic = Switchboard().topic()
    defer { topic.terminateAll() }
    let subscribers = (0..<Effort.count(5_000)).map { _ in Nobody() }
    let begun = Atomic<Int>(0)
    let made = Atomic<Int>(0)
    let ended = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)
    let wrong = Recorder<String>()
    Threads.run(4) { thread in
      guard thread == 0 else {
        while !isOver.load(ordering: .acquiring) {
          let (open, last) = (made.load(ordering: .acquiring), ended.load(ordering: .acquiring))
          let serials = topic.snapshot().map(\.serial)
          let first = begun.load(ordering: .acquiring)
          // Serials begin with 1. Those between may have ended when the list was merged.
          let isInOrder = zip(serials, serials.dropFirst()).allSatisfy { $0 < $1 }
          let isComplete = first >= open || Set(serials).isSuperset(of: first + 1...open)
          if !isInOrder || !isComplete || serials.first ?? .max <= last {
            wrong.record("\(last), \(first), \(open): \(serials.prefix(5))...\(serials.suffix(2))")
            return
          }
        }
        return
      }
      var nodes: [SubscriptionNode] = []
      for number in subscribers.indices where wrong.history.isEmpty {
        nodes.append(topic.subscribe(subscribers[number]))
        made.store(number + 1, ordering: .releasing)
        // As many as are worth looking at.
        guard number >= 40 else { continue }
        begun.store(number - 39, ordering: .sequentiallyConsistent)
        nodes[number - 40].terminate(as: .cancelled)
        ended.store(number - 39, ordering: .releasing)
      }
      isOver.store(true, ordering: .releasing)
    }
    #expect(wrong.history.isEmpty, "\(wrong.history)")
  }

  @Test("while priorities change, each snapshot is in an order that there has been")
  func priorities() {
    let topic = Switchboard().topic()
    defer { topic.terminateAll() }
    let subscribers = (0..<60).map { _ in Nobody() }
    for subscriber in subscribers { _ = topic.subscribe(subscriber) }
    let all = Array(1...subscribers.count)
    let wrong = Recorder<[Int]>()
    let end = Atomic<Int>(0)
    let readers = 3
    Threads.run(readers + 1) { thread in
      if thread == readers {
        // One at a time is before all others, or none is.
        var dice = Dice(seed: Effort.firstSeed)
        while end.load(ordering: .relaxed) < readers {
          let subscriber = subscribers[dice.roll(subscribers.count)]
          _ = topic.subscribe(subscriber, priority: 1)
          _ = topic.subscribe(subscriber, priority: 0)
          if dice.roll(8) == 0 { Threads.pause() }
        }
      } else {
        for _ in races(5_000) where wrong.history.isEmpty {
          let serials = topic.snapshot().map(\.serial)
          let others = all.filter { $0 != serials.first }
          if !serials.dropFirst().elementsEqual(others) { wrong.record(serials) }
        }
        end.add(1, ordering: .relaxed)
      }
    }
    #expect(wrong.history.isEmpty, "\(wrong.history.prefix(3))")
  }

  @Test("what is posted while a lane begins is that lane's, or has another one requested")
  func lanes() {
    let board = Switchboard()
    defer { board.clear() }
    // So many that it takes the lane some time to put them in order.
    let subscribers = (0..<3_000).map { _ in Nobody() }
    for subscriber in subscribers { _ = board.topic().subscribe(subscriber) }
    let newcomer = Nobody()
    for round in races(40) {
      _ = board.topic().subscribe(subscribers[1_000], priority: round % 2 + 1)
      #expect(board.post(Structures.content(), to: Structures.key) == true)
      let hasBegun = Atomic<Bool>(false)
      let (lane, posted) = (Recorder<SubscriptionNode>(), Recorder<(SubscriptionNode, Bool)>())
      Threads.run(2) { thread in
        if thread == 0 {
          hasBegun.store(true, ordering: .releasing)
          for node in board.beginLane() { lane.record(node) }
        } else {
          while !hasBegun.load(ordering: .acquiring) { Threads.pause() }
          let node = board.topic().subscribe(newcomer)
          posted.record((node, board.post(Structures.content(), to: Structures.key)))
        }
      }
      for (node, isRequested) in posted.history {
        let isServed = lane.history.contains { $0 === node }
        #expect(isRequested || isServed, "round \(round)")
        if isRequested { board.beginLane() }
        node.terminate(as: .cancelled)
      }
    }
  }
}

extension Topic {
  /// Subscribes an object, without options.
  fileprivate func subscribe(_ subscriber: Nobody, priority: Int? = nil) -> SubscriptionNode {
    subscribe(
      SubscriptionRequest(
        object: subscriber, type: Nobody.self, options: nil, priority: priority,
        site: Site(file: #fileID, line: #line)),
      reference: WeakReference(subscriber, object: subscriber))
  }
}

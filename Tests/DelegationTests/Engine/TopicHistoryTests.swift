import Testing

@testable import Delegation

@Suite("Topic: small histories", .inTurn(.heavy))
struct TopicHistoryTests {
  enum Step: CaseIterable {
    case subscribe, subscribeElsewhere, cancel, post, postElsewhere, beginLane, look
  }

  @Test("after every history of five steps the order is a list's, and one lane a protocol is due")
  func agreesWithList() {
    let histories = words(of: Step.allCases, length: 5)
    #expect(histories.count == 16_807)
    for history in some(of: histories, oneIn: 3) {
      var run = TopicRun()
      defer { run.board.clear() }
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
    }
  }
}

/// Two topics and, beside them, what should come of them.
private struct TopicRun {
  let board = Switchboard()
  private let topics: [Topic]
  private var subscribers: [Nobody] = []
  private var open: [[SubscriptionNode]] = [[], []]
  private var isLaneDue = [false, false]
  private var posted = [0, 0]
  private var addressed = [0, 0]

  init() {
    // What stands for two protocols.
    topics = [board.topic(), board.topic(of: Int.self)]
  }

  mutating func take(_ step: TopicHistoryTests.Step) -> String? {
    let fault: String?
    switch step {
    case .subscribe: fault = subscribe(to: 0)
    case .subscribeElsewhere: fault = subscribe(to: 1)
    case .cancel: fault = cancel()
    case .post: fault = post(to: 0)
    case .postElsewhere: fault = post(to: 1)
    case .beginLane: fault = isLaneDue[0] ? beginLane() : nil
    case .look: fault = topics[0].snapshot().elementsEqual(open[0], by: ===) ? nil : "snapshot"
    }
    return fault ?? check()
  }

  private mutating func subscribe(to index: Int) -> String? {
    let subscriber = Nobody()
    subscribers.append(subscriber)
    let node = Structures.subscribe(subscriber, to: index == 0 ? Nobody.self : Int.self, in: board)
    open[index].append(node)
    return node.topic === topics[index] ? nil : "another topic"
  }

  private mutating func cancel() -> String? {
    guard let index = open.firstIndex(where: { !$0.isEmpty }) else { return nil }
    let node = open[index].removeFirst()
    node.terminate(as: .cancelled)
    return node.isOpen ? "not ended" : nil
  }

  private mutating func post(to index: Int) -> String? {
    let isRequested = topics[index].post(Structures.content())
    guard !open[index].isEmpty else { return isRequested ? "a lane for nobody" : nil }
    defer { isLaneDue[index] = true }
    posted[index] += 1
    addressed[index] += open[index].count
    return isRequested == isLaneDue[index] ? "requested: \(isRequested)" : nil
  }

  private mutating func beginLane() -> String? {
    isLaneDue[0] = false
    return board.beginLane().elementsEqual(open[0], by: ===) ? nil : "lane"
  }

  private func check() -> String? {
    let lanes = isLaneDue.count { $0 }
    if board.activity.workers.value != lanes { return "\(board.activity.workers.value) workers" }
    for (index, topic) in topics.enumerated() {
      let totals = topic.state.withLock { ($0.posted, $0.addressed) }
      if totals != (posted[index], addressed[index]) { return "totals \(totals) of \(index)" }
      if topic.isHeard.load(ordering: .relaxed) == open[index].isEmpty { return "heard" }
      let overview = topic.overview()
      guard overview.nodes.elementsEqual(open[index], by: ===) else { return "overview" }
      let sum = overview.nodes.reduce(into: overview.counts) { $0 += $1.account }
      if sum.addressed != addressed[index] { return "\(sum) of \(index)" }
    }
    return open.joined().allSatisfy(\.isOpen) ? nil : "one was closed"
  }
}

import Testing

@testable import Delegation

@Suite("Inbox: small histories", .inTurn(.heavy))
struct InboxHistoryTests {
  enum Step: CaseIterable {
    case subscribe, subscribeElsewhere, cancel, post, postElsewhere, takeAsWake, look
  }

  @Test(
    "after every history of five steps the updates are what was said, and one wake is on its way")
  func agreesWithList() {
    let histories = words(of: Step.allCases, length: 5)
    #expect(histories.count == 16_807)
    for history in some(of: histories, oneIn: 3) {
      var run = InboxRun()
      defer { run.inbox.clear() }
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
    }
  }
}

/// An inbox and, beside it, what should come of it.
private struct InboxRun {
  /// What stands for two protocols.
  private static let types: [Any.Type] = [Nobody.self, Int.self]

  let inbox: Inbox
  private let sent: Wakes
  private var subscribers: [Nobody] = []
  private var open: [(node: SubscriptionNode, protocol: Int)] = []
  private var wakes = 0
  private var isWaking = false
  /// The protocols with changes and with notifications, in the order in which these came.
  private var changed: [Int] = []
  private var pending: [Int] = []
  private var joined: [[SubscriptionNode]] = [[], []]
  private var left = [0, 0]
  private var posted = [0, 0]
  private var addressed = [0, 0]

  init() {
    inbox = Inbox()
    sent = Wakes(of: inbox)
  }

  mutating func take(_ step: InboxHistoryTests.Step) -> String? {
    let fault =
      switch step {
      case .subscribe: subscribe(to: 0)
      case .subscribeElsewhere: subscribe(to: 1)
      case .cancel: cancel()
      case .post: post(to: 0)
      case .postElsewhere: post(to: 1)
      case .takeAsWake: isWaking ? takeUpdates(asWake: true) : nil
      case .look: takeUpdates(asWake: false)
      }
    return fault ?? check()
  }

  private mutating func subscribe(to index: Int) -> String? {
    let subscriber = Nobody()
    subscribers.append(subscriber)
    let node = Structures.subscribe(subscriber, to: Self.types[index], in: inbox)
    if node.serial != subscribers.count { return "serial \(node.serial)" }
    open.append((node, index))
    joined[index].append(node)
    if !changed.contains(index) { changed.append(index) }
    return nil
  }

  private mutating func cancel() -> String? {
    guard !open.isEmpty else { return nil }
    let (node, index) = open.removeFirst()
    node.terminate(as: .cancelled)
    left[index] += 1
    if !changed.contains(index) { changed.append(index) }
    return nil
  }

  private mutating func post(to index: Int) -> String? {
    inbox.post(Structures.content(), to: ObjectIdentifier(Self.types[index]))
    let population = open.count { $0.protocol == index }
    guard population > 0 else { return nil }
    posted[index] += 1
    addressed[index] += population
    if !pending.contains(index) { pending.append(index) }
    if !isWaking { wakes += 1 }
    isWaking = true
    return nil
  }

  private mutating func takeUpdates(asWake isWake: Bool) -> String? {
    let updates = inbox.takeUpdates(asWake: isWake)
    defer {
      (changed, joined, left) = ([], [[], []], [0, 0])
      if isWake { (isWaking, pending) = (false, []) }
    }
    guard updates.changes.map(\.topic.key) == keys(of: changed) else { return "changed" }
    for (changes, index) in zip(updates.changes, changed) {
      guard changes.added.elementsEqual(joined[index], by: ===), changes.terminated == left[index]
      else { return "changes of \(index)" }
    }
    guard updates.pendingWork.pending.map(\.key) == (isWake ? keys(of: pending) : []) else {
      return "pending"
    }
    return updates.pendingWork.sweeps.isEmpty && updates.pendingWork.due.isEmpty ? nil : "sweeps"
  }

  private func keys(of indices: [Int]) -> [ObjectIdentifier] {
    indices.map { ObjectIdentifier(Self.types[$0]) }
  }

  private func check() -> String? {
    if inbox.activity.workers.value != wakes { return "\(inbox.activity.workers.value) workers" }
    if sent.count != wakes { return "\(sent.count) wakes" }
    for (index, type) in Self.types.enumerated() {
      let totals = inbox.totals(of: Topic(type))
      if totals != (posted[index], addressed[index]) { return "totals \(totals) of \(index)" }
    }
    return open.allSatisfy(\.node.isOpen) ? nil : "one was closed"
  }
}

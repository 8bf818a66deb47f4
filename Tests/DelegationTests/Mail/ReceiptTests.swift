import Testing

@testable import Delegation

@Suite("Receipt: who has yet to pass a notification that somebody waits for", .inTurn(.heavy))
struct ReceiptTests {
  enum Step: CaseIterable {
    case post, attend, advance, close, otherHandlesAll
  }

  @Test(
    "after every history of six steps, each addressee has passed what it was done with, once",
    arguments: [DelegateHub.MailboxPolicy.unbounded, .latest, .dropNewest(limit: 1)])
  func passedOnce(policy: DelegateHub.MailboxPolicy) {
    for history in some(of: words(of: Step.allCases, length: 6), oneIn: 3) {
      var run = ReceiptRun(policy)
      defer { run.end() }
      for step in history {
        if let fault = run.take(step) {
          Issue.record("\(fault) at \(step) in \(history)")
          return
        }
      }
    }
  }

  @Test("a wait for a receipt ends with the last one's passing, however it comes")
  func passing() {
    let board = Switchboard()
    defer { board.clear() }
    let subscribers = (0..<3).map { _ in Nobody() }
    let nodes = subscribers.map { Structures.subscribe($0, in: board) }
    let receipt = Receipt()
    var content = Structures.content()
    content.receipt = receipt
    board.post(content, to: Structures.key)
    let waiter = Waiter()
    receipt.outstanding.update { $0.add(waiter) }
    let taken = nodes[0].begin()
    nodes[1].terminate(as: .cancelled)
    nodes[2].terminate(as: .expired)
    #expect(receipt.outstanding.value == 1)
    #expect(waiter.outcome == nil)
    _ = nodes[0].advance(after: .failed)
    taken?.receipt?.pass()
    #expect(waiter.outcome == true)
  }

  @Test("of what waited, the end of a subscription looks at what was posted up to the last receipt")
  func looks() {
    for (last, looks) in [(-1, 0), (49, 0), (50, 1), (59, 10), (1049, 1000), (Int.max, 1000)] {
      var mailbox = Mailbox(at: Structures.chain(of: 1000), number: 50)
      let remains = mailbox.terminate(at: 1050, as: .cancelled)
      #expect(remains?.passReceipts(upTo: last, before: 1050) == looks)
      #expect(mailbox.terminate(at: 1050, as: .cancelled) == nil)
    }
  }

  @Test("a protocol knows which of its notifications was the last with a receipt")
  func lastReceipt() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let topic = Structures.subscribe(subscriber, in: board).topic
    var content = Structures.content()
    for _ in 0..<3 { board.post(content, to: Structures.key) }
    #expect(topic.lastReceipt.load(ordering: .relaxed) == -1)
    content.receipt = Receipt()
    board.post(content, to: Structures.key)
    board.post(Structures.content(), to: Structures.key)
    #expect(topic.lastReceipt.load(ordering: .relaxed) == 3)
  }

  @Test("a handler that waits for its own subscriber to pass does not wait for itself")
  func ownHandler() {
    let scene = HandlerScene([.init(node: 0, isDelivery: true), .init(node: 1)], subscribers: 2)
    let receipt = scene.postWithReceipt()
    let waits = scene.waits
    // The answer to a vote has no part in the order of the other one's notifications.
    for handler in [1, 0] {
      waits.begin(handler, .passing(of: receipt), in: scene.contexts[handler])
    }
    #expect(waits.takeFulfilled() == [])
    scene.nodes[1].terminate(as: .cancelled)
    #expect(receipt.outstanding.value == 1)
    #expect(waits.takeFulfilled() == [0])
    scene.nodes[0].terminate(as: .cancelled)
    #expect(waits.takeFulfilled() == [1])
  }

  @Test("before it is posted nobody has to pass it, and nobody of another protocol ever has")
  func others() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let other = Structures.subscribe(subscriber, to: Gate.self, in: board)
    let node = Structures.subscribe(subscriber, in: board)
    for key in [ObjectIdentifier(Gate.self), Structures.key] {
      board.post(Structures.content(), to: key)
    }
    let receipt = Receipt()
    #expect(receipt.outstanding.value == 0)
    #expect([node, other].map { $0.hasPending(receipt) } == [false, false])
    var content = Structures.content()
    content.receipt = receipt
    board.post(content, to: Structures.key)
    board.post(Structures.content(), to: ObjectIdentifier(Gate.self))
    #expect(other.hasPending(1))
    #expect([node, other].map { $0.hasPending(receipt) } == [true, false])
  }
}

/// Two subscribers, and what each of them has yet to pass.
private struct ReceiptRun {
  let board = Switchboard()
  private let subscribers = [Nobody(), Nobody()]
  private let nodes: [SubscriptionNode]
  private let policy: DelegateHub.MailboxPolicy
  private var receipts: [Receipt] = []
  private var isOpen = true
  private var waiting: [Int] = []
  private var handling: (number: Int, content: Notification.Content)?
  private var othersWaiting: [Int] = []

  init(_ policy: DelegateHub.MailboxPolicy) {
    self.policy = policy
    nodes = [
      Structures.subscribe(subscribers[0], in: board, policy: policy),
      Structures.subscribe(subscribers[1], in: board),
    ]
  }

  mutating func take(_ step: ReceiptTests.Step) -> String? {
    switch step {
    case .post: post()
    case .attend:
      let isAlone = handling == nil
      let content = nodes[0].begin()
      dropFromWaiting()
      if isAlone, let fault = follow(content) { return fault }
    case .advance: if let fault = advance() { return fault }
    case .close:
      if isOpen { nodes[0].terminate(as: .expired) }
      isOpen = false
      waiting = []
    case .otherHandlesAll:
      nodes[1].visit()
      othersWaiting = []
    }
    return check()
  }

  /// A mailbox that is attended keeps what it has: whoever attends it leaves it first.
  mutating func end() {
    board.clear()
    if handling != nil { _ = nodes[0].advance(after: .skipped) }
    handling = nil
  }

  private mutating func post() {
    var content = Structures.content()
    let receipt = Receipt()
    content.receipt = receipt
    board.post(content, to: Structures.key)
    if isOpen { waiting.append(receipts.count) }
    othersWaiting.append(receipts.count)
    receipts.append(receipt)
  }

  private mutating func advance() -> String? {
    guard let (_, content) = handling else { return nil }
    handling = nil
    let step = nodes[0].advance(after: isOpen ? .handled : .skipped)
    content.receipt?.pass()
    if case .handle(let next) = step { return follow(next) }
    return nil
  }

  private mutating func follow(_ content: Notification.Content?) -> String? {
    guard let content else { return waiting.isEmpty ? nil : "nothing to handle of \(waiting)" }
    guard let number = waiting.first, content.receipt === receipts[number] else {
      return "the wrong one is handled"
    }
    handling = (waiting.removeFirst(), content)
    return nil
  }

  /// What a mailbox with a limit does whenever a worker looks into it.
  private mutating func dropFromWaiting() {
    guard isOpen, let limit = policy.limit, waiting.count > limit else { return }
    waiting = Array(policy.dropsOldest ? waiting.suffix(limit) : waiting.prefix(limit))
  }

  private func check() -> String? {
    for (number, receipt) in receipts.enumerated() {
      let owing = [
        waiting.contains(number) || handling?.number == number, othersWaiting.contains(number),
      ]
      let outstanding = owing.count { $0 }
      if receipt.outstanding.value != outstanding {
        return "\(receipt.outstanding.value) have yet to pass \(number), expected \(outstanding)"
      }
      if nodes.map({ $0.hasPending(receipt) }) != owing { return "\(number) is owed by others" }
    }
    return nil
  }
}

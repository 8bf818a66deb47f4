import Testing

@testable import Delegation

/// What comes after it.
extension SubscriptionNodeTests {
  @Test("a worker that attends when its successor subscribes leaves to it all that is stored")
  func succeeded() throws {
    defer { inbox.clear() }
    let (first, second) = (Nobody(), Nobody())
    let limited = Structures.subscribe(
      first, in: inbox, identity: Identity("a"), policy: .dropOldest(limit: 5))
    for _ in 0..<4 { inbox.post(Structures.content(), to: Structures.key) }
    #expect(limited.begin() != nil)
    // What a take-over does first; the worker comes by before it goes on.
    let end = try #require(inbox.beginTermination(on: limited))
    #expect(limited.advance(after: .handled).isDone)
    let successor = Structures.node(
      of: second, in: limited.topic,
      mailbox: Mailbox(at: Notification(), number: end, flags: .awaitingHandOver))
    limited.handOver(to: successor)
    limited.finishTermination(at: end, as: .cancelled).release()
    #expect(limited.account == Account(handled: 1))
    #expect(successor.account.waiting == 3)
  }

  @Test("a successor that has ended before anything is handed to it passes that over")
  func succeededByOneThatHasEnded() throws {
    defer { inbox.clear() }
    let (first, second) = (Nobody(), Nobody())
    let former = Structures.subscribe(first, in: inbox, identity: Identity("a"))
    let receipt = Receipt()
    var content = Structures.content()
    content.receipt = receipt
    inbox.post(content, to: Structures.key)
    let end = try #require(inbox.beginTermination(on: former))
    let successor = Structures.node(
      of: second, in: former.topic,
      mailbox: Mailbox(at: Notification(), number: end, flags: .awaitingHandOver))
    successor.finishTermination(at: end, as: .cancelled).release()
    // The first subscription, which nobody serves, and this one.
    #expect(receipt.outstanding.value == 2)
    former.handOver(to: successor)
    #expect(receipt.outstanding.value == 1)
    #expect(successor.account == Account(cancelled: 1))
    #expect(successor.isIdle)
  }

  @Test("a successor that is succeeded before anything is handed to it passes that on")
  func succeededInARow() throws {
    defer { inbox.clear() }
    let subscribers = [Nobody(), Nobody()]
    let end = try #require(inbox.beginTermination(on: node))
    let successors = subscribers.map {
      Structures.node(
        of: $0, in: node.topic,
        mailbox: Mailbox(at: Notification(), number: end, flags: .awaitingHandOver))
    }
    _ = successors[0].beginTermination()
    successors[0].handOver(to: successors[1])
    node.handOver(to: successors[0])
    node.finishTermination(at: end, as: .cancelled).release()
    #expect(node.account == Account())
    #expect(successors.map(\.account) == [Account(), Account(waiting: 1)])
  }

  @Test("what a successor's limit leaves no room for is dropped as soon as it is handed over")
  func succeededUnderALimit() throws {
    defer { inbox.clear() }
    let receipts = [Receipt(), Receipt()]
    for receipt in receipts {
      var content = Structures.content()
      content.receipt = receipt
      inbox.post(content, to: Structures.key)
    }
    let end = try #require(inbox.beginTermination(on: node))
    let second = Nobody()
    let successor = Structures.node(
      of: second, in: node.topic,
      mailbox: Mailbox(
        at: Notification(), number: end, policy: .latest, flags: [.awaitingHandOver, .held]))
    node.handOver(to: successor)
    #expect(receipts.map { $0.outstanding.value } == [0, 1])
    #expect(successor.account == Account(dropped: 2, waiting: 1))
  }

  @Test("what is held for one that waits for its executor is counted before that is counted off")
  func heldForOneThatIsSent() throws {
    defer { inbox.clear() }
    node.setOptions(SubscriptionOptions(executor: ManualExecutor()))
    _ = node.attendAndProceed()
    #expect(node.isSent)
    let end = try #require(inbox.beginTermination(on: node))
    let successor = Structures.subscribe(subscriber, in: inbox)
    #expect(successor !== node)
    inbox.post(Structures.content(), to: Structures.key)
    // Somebody comes for what was posted, finds nothing to do, and is counted off.
    _ = inbox.takeUpdates(asWake: true)
    inbox.activity.end()
    let drain = Waiter()
    inbox.activity.workers.add(drain)
    node.finishTermination(at: end, as: .cancelled).release()
    #expect(!node.isSent)
    #expect(drain.outcome == nil)
    #expect(successor.account == Account(waiting: 1))
  }

  @Test("a row of successors, however long, takes no more of the stack than one")
  func succeededInALongRow() async {
    // The suite's own; the row is in another process.
    defer { inbox.clear() }
    await #expect(processExitsWith: .success) {
      let (inbox, subscriber) = (Inbox(), Nobody())
      let node = Structures.subscribe(subscriber, in: inbox)
      inbox.post(Structures.content(), to: Structures.key)
      let end = try #require(inbox.beginTermination(on: node))
      let row = (0..<100_000).map { _ in
        Structures.node(
          of: subscriber, in: node.topic,
          mailbox: Mailbox(at: Notification(), number: end, flags: .awaitingHandOver))
      }
      for (former, successor) in zip(row, row.dropFirst()) {
        _ = former.beginTermination()
        former.handOver(to: successor)
      }
      node.handOver(to: row[0])
      node.finishTermination(at: end, as: .cancelled).release()
      #expect(row[row.count - 2].account == Account())
      #expect(row[row.count - 1].account == Account(waiting: 1))
      inbox.clear()
    }
  }
}

import Testing

@testable import Delegation

/// What comes after it.
extension SubscriptionNodeTests {
  /// A subscription that takes the place of another, from the number on at which that one ended.
  private func successor(
    of former: SubscriptionNode, at end: Int, for subscriber: Nobody,
    policy: DelegateHub.MailboxPolicy = .unbounded, flags: Mailbox.Flags = []
  ) -> SubscriptionNode {
    Structures.node(
      of: subscriber, in: former.topic,
      mailbox: Mailbox(
        at: Notification(), number: end, policy: policy, flags: flags.union(.awaitingHandOver)),
      inPlaceOf: former)
  }

  @Test("a worker that attends when its successor subscribes leaves to it all that is stored")
  func succeeded() throws {
    defer { board.clear() }
    let (first, second) = (Nobody(), Nobody())
    let limited = Structures.subscribe(
      first, in: board, identity: Identity("a"), policy: .dropOldest(limit: 5))
    for _ in 0..<4 { board.post(Structures.content(), to: Structures.key) }
    #expect(limited.begin() != nil)
    // What a take-over does first; the worker comes by before it goes on.
    let end = try #require(board.beginTermination(on: limited, as: .succeeded))
    #expect(limited.advance(after: .handled).isDone)
    let successor = successor(of: limited, at: end, for: second)
    limited.finishTermination(at: end, as: .succeeded)
    #expect(!limited.isIdle)
    #expect(successor.account.waiting == 3)
    #expect(limited.account == Account(handled: 1))
    #expect(limited.isIdle)
  }

  @Test("a successor that has ended before it has taken over passes what waited")
  func succeededByOneThatHasEnded() throws {
    defer { board.clear() }
    let (first, second) = (Nobody(), Nobody())
    let former = Structures.subscribe(first, in: board, identity: Identity("a"))
    let receipt = Receipt()
    var content = Structures.content()
    content.receipt = receipt
    board.post(content, to: Structures.key)
    let end = try #require(board.beginTermination(on: former, as: .succeeded))
    let successor = successor(of: former, at: end, for: second)
    // The first subscription, which nobody serves, and this one.
    #expect(receipt.outstanding.value == 2)
    successor.beginTermination()
    successor.finishTermination(at: end, as: .cancelled)
    #expect(receipt.outstanding.value == 1)
    former.finishTermination(at: end, as: .succeeded)
    #expect(former.account == Account())
    #expect(successor.account == Account(cancelled: 1))
    #expect(successor.isIdle && former.isIdle)
  }

  @Test("a successor that is succeeded before it has taken over leaves that to its own successor")
  func succeededInARow() throws {
    defer { board.clear() }
    let subscribers = [Nobody(), Nobody()]
    let end = try #require(board.beginTermination(on: node, as: .succeeded))
    let first = successor(of: node, at: end, for: subscribers[0])
    first.beginTermination(isSucceeded: true)
    let second = successor(of: first, at: end, for: subscribers[1])
    first.finishTermination(at: end, as: .succeeded)
    #expect(second.account == Account(waiting: 1))
    node.finishTermination(at: end, as: .succeeded)
    #expect([node, first].map(\.account) == [Account(), Account()])
    #expect(node.isIdle && first.isIdle)
  }

  @Test("what a successor's limit leaves no room for is dropped as soon as it has taken over")
  func succeededUnderALimit() throws {
    defer { board.clear() }
    let receipts = [Receipt(), Receipt()]
    for receipt in receipts {
      var content = Structures.content()
      content.receipt = receipt
      board.post(content, to: Structures.key)
    }
    let end = try #require(board.beginTermination(on: node, as: .succeeded))
    let second = Nobody()
    let successor = successor(of: node, at: end, for: second, policy: .latest, flags: .held)
    successor.resume()
    #expect(receipts.map { $0.outstanding.value } == [0, 1])
    #expect(successor.account == Account(dropped: 2, waiting: 1))
  }

  @Test("one that waits in its lane is counted until it ends, and holds nothing")
  func endsInItsLane() throws {
    defer { board.clear() }
    node.setOptions(SubscriptionOptions(executor: ManualExecutor()))
    board.post(Structures.content(), to: Structures.key)
    let workers = board.activity.workers.value
    guard case .elsewhere = node.attend(at: nil) else {
      Issue.record("it is served in place")
      return
    }
    #expect(node.attend(at: nil).isDone)
    #expect(board.activity.workers.value == workers + 1)
    let end = try #require(board.beginTermination(on: node))
    let successor = Structures.subscribe(subscriber, in: board)
    #expect(successor !== node)
    board.post(Structures.content(), to: Structures.key)
    #expect(successor.attend())
    node.finishTermination(at: end, as: .cancelled)
    #expect(board.activity.workers.value == workers)
    #expect(!node.leaveLane())
    successor.serve()
    #expect(successor.account == Account(handled: 1))
  }

  @Test("one whose id was taken is kept while a worker is about to call it, and not for a question")
  func kept() throws {
    defer { board.clear() }
    for isHandling in [true, false] {
      var former: Nobody? = Nobody()
      weak let trace = former
      let node = Structures.subscribe(try #require(former), in: board, identity: Identity("a"))
      board.post(Structures.content(), to: Structures.key)
      if isHandling { #expect(node.begin() != nil) } else { #expect(node.beginCall()) }
      let heir = Nobody()
      let successor = Structures.subscribe(heir, in: board, identity: Identity("a"))
      former = nil
      #expect((trace != nil) == isHandling)
      if isHandling { #expect(node.advance(after: .handled).isDone) } else { node.endCall() }
      #expect(trace == nil)
      successor.terminate(as: .cancelled)
    }
  }

  // MARK: Handlers that have not begun

  /// A subscription that has taken a notification whose handler is deferred, before another one.
  private func poised(_ subscriber: Nobody) throws -> SubscriptionNode {
    let node = Structures.subscribe(subscriber, in: board, identity: Identity("a"))
    let content = Notification.Content(handler: .deferred { _ in .handled })
    board.post(content, to: Structures.key)
    board.post(Structures.content(), to: Structures.key)
    node.poise(try #require(node.begin()))
    return node
  }

  @Test("a successor takes over what has not begun, before what waits, and waits for nobody")
  func takenBack() throws {
    defer { board.clear() }
    let subscribers = (0..<3).map { _ in Nobody() }
    let former = try poised(subscribers[0])
    // The second one has no worker yet when it is succeeded.
    let heirs = subscribers.dropFirst().map {
      Structures.subscribe($0, in: board, identity: Identity("a"))
    }
    #expect(former.runningCalls == 0)
    #expect([former, heirs[0]].map(\.account) == [Account(), Account()])
    #expect(heirs[1].account == Account(waiting: 2))
    let taken = try #require(heirs[1].begin())
    #expect(taken.handler.isDeferred)
    heirs[1].poise(taken)
    #expect(heirs[1].beginHandling())
    #expect(!former.beginHandling())
    #expect(former.advance(after: .skipped).isDone)
    #expect(heirs[1].advance(after: .handled).isDone == false)
    #expect(heirs[1].advance(after: .handled).isDone)
    #expect(heirs[1].account == Account(handled: 2))
    #expect(former.isIdle && heirs[0].isIdle)
  }

  @Test("its limit holds also while the worker of the one before waits")
  func limitedAtOnce() throws {
    defer { board.clear() }
    let subscribers = (0..<2).map { _ in Nobody() }
    let former = try poised(subscribers[0])
    let heir = Structures.subscribe(
      subscribers[1], in: board, identity: Identity("a"), policy: .latest)
    #expect(heir.account == Account(dropped: 1, waiting: 1))
    board.post(Structures.content(), to: Structures.key)
    #expect(heir.account == Account(dropped: 2, waiting: 1))
    #expect(former.advance(after: .skipped).isDone)
  }

  @Test("a row of successors, however long, leaves all to the last one")
  func longRow() throws {
    defer { board.clear() }
    let subscribers = (0..<30_000).map { _ in Nobody() }
    let former = try poised(subscribers[0])
    let heirs = subscribers.dropFirst().map {
      Structures.subscribe($0, in: board, identity: Identity("a"))
    }
    #expect(heirs.dropLast().allSatisfy { $0.isIdle && $0.account == Account() })
    #expect(former.advance(after: .skipped).isDone)
    #expect(heirs.last?.account == Account(waiting: 2))
  }

  @Test("what has begun is not taken over, and its successor does not wait for it")
  func begun() throws {
    defer { board.clear() }
    let subscribers = (0..<2).map { _ in Nobody() }
    let former = try poised(subscribers[0])
    #expect(former.beginHandling())
    let heir = Structures.subscribe(subscribers[1], in: board, identity: Identity("a"))
    #expect(heir.account == Account(waiting: 1))
    #expect(heir.begin() != nil)
    #expect(former.mayHandle)
    #expect(former.beginHandling())
    #expect(former.advance(after: .handled).isDone)
    #expect(heir.advance(after: .handled).isDone)
    #expect([former, heir].map(\.account) == [Account(handled: 1), Account(handled: 1)])
  }

  @Test(
    "if it ends, what has not begun does not begin, and is cancelled", arguments: [true, false])
  func endedMeanwhile(isSucceeded: Bool) throws {
    defer { board.clear() }
    let subscribers = (0..<2).map { _ in Nobody() }
    let former = try poised(subscribers[0])
    if isSucceeded {
      let heir = Structures.subscribe(subscribers[1], in: board, identity: Identity("a"))
      heir.terminate(as: .cancelled)
      #expect(heir.account == Account(cancelled: 2))
      #expect(heir.isIdle)
    } else {
      former.terminate(as: .cancelled)
    }
    #expect(!former.isIdle)
    #expect(!former.beginHandling())
    #expect(former.advance(after: .skipped).isDone)
    #expect(former.account == (isSucceeded ? Account() : Account(cancelled: 2)))
    #expect(former.isIdle)
  }
}

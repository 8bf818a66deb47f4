import Synchronization
import Testing

@testable import Delegation

@Suite("Mailbox: posters and workers on several threads")
struct MailboxRaceTests {
  @Test("whoever posts and comes by finds it handled, or somebody who will handle it")
  func nothingStranded() {
    let subscriber = Nobody()
    let board = Switchboard()
    defer { board.clear() }
    let node = Structures.subscribe(subscriber, in: board)
    let posters = 2
    let posted = Atomic<Int>(0)
    let stranded = Atomic<Int>(0)
    let leaving = Atomic<Int>(0)
    let posting = Atomic<Int>(posters)
    Threads.run(posters + 1) { thread in
      if thread == posters {
        // Keeps the mailbox busy, so that what the others do to it overlaps.
        while posting.load(ordering: .relaxed) > 0 {
          node.contents.withLock { $0.mailbox.lookBusy() }
        }
        return
      }
      let handled = Counter()
      func visit() {
        leaving.add(1, ordering: .sequentiallyConsistent)
        node.serve()
        leaving.subtract(1, ordering: .sequentiallyConsistent)
      }
      for round in races(5000) {
        let post = round + 1
        posted.add(1, ordering: .relaxed)
        board.post(Structures.content { handled.increment() }, to: Structures.key)
        if node.attend() { visit() }
        while handled.value < post {
          // Whoever attends now finds nobody at work, though somebody has been called; unless who has left has
          // requested another worker, or is about to.
          guard node.attend() else { continue }
          let isComing = leaving.load(ordering: .sequentiallyConsistent) > 0
          let due = board.takeRequested()
          if handled.value < post, !isComing, due.isEmpty { stranded.add(1, ordering: .relaxed) }
          visit()
        }
      }
      posting.subtract(1, ordering: .relaxed)
    }
    #expect(stranded.load(ordering: .relaxed) == 0)
    #expect(node.account == Account(handled: posted.load(ordering: .relaxed)))
    withExtendedLifetime(subscriber) {}
  }

  @Test("a worker that is about to leave sees the flag that another one sets meanwhile")
  func noteOnTheWayToRest() {
    expectNoteSeen { node in node.advance(after: .handled) }
  }

  /// Lets the attending worker take a step while somebody posts and sets the flag.
  ///
  /// The worker stands at the mailbox's lock meanwhile, whatever it has read before.
  private func expectNoteSeen(
    _ step: @escaping @Sendable (SubscriptionNode) -> Mailbox.Step
  ) {
    let subscriber = Nobody()
    let board = Switchboard()
    defer { board.clear() }
    let node = Structures.subscribe(subscriber, in: board)
    board.post(Structures.content(), to: Structures.key)
    #expect(node.begin() != nil)
    let isHeld = Atomic<Bool>(false)
    let isComing = Atomic<Bool>(false)
    let rested = Atomic<Bool>(false)
    Threads.run(2) { thread in
      if thread == 0 {
        while !isHeld.load(ordering: .acquiring) { Threads.pause() }
        isComing.store(true, ordering: .releasing)
        if case .done = step(node) { rested.store(true, ordering: .relaxed) }
      } else {
        node.contents.withLock { contents in
          isHeld.store(true, ordering: .releasing)
          while !isComing.load(ordering: .acquiring) { Threads.pause() }
          Threads.pause(2000)
          board.post(Structures.content(), to: Structures.key)
          _ = contents.mailbox.attend(published: 2)
        }
      }
    }
    #expect(rested.load(ordering: .relaxed) == false)
    // An attended mailbox keeps what it has.
    board.clear()
    _ = node.advance(after: .skipped)
    withExtendedLifetime(subscriber) {}
  }

  @Test("one at a time, in order, whoever attends")
  func oneAtATime() {
    let subscriber = Nobody()
    let board = Switchboard()
    defer { board.clear() }
    let node = Structures.subscribe(subscriber, in: board)
    let threads = 3
    let posts = rounds(5000).count
    let inside = Atomic<Int>(0)
    let together = Atomic<Int>(0)
    let orders = (0..<threads).map { _ in Recorder<Int>() }
    Threads.run(threads) { thread in
      for post in 0..<posts {
        let content = Structures.content {
          if inside.add(1, ordering: .relaxed).newValue > 1 { together.add(1, ordering: .relaxed) }
          orders[thread].record(post)
          inside.subtract(1, ordering: .relaxed)
        }
        board.post(content, to: Structures.key)
        node.visit()
      }
    }
    node.visit()
    #expect(together.load(ordering: .relaxed) == 0)
    for order in orders { #expect(order.history == Array(0..<posts)) }
    withExtendedLifetime(subscriber) {}
  }

  @Test("a subscription that ends while it is posted to and worked on adds up")
  func endAddsUp() {
    for round in races(300) {
      let subscribers = [Nobody(), Nobody()]
      let board = Switchboard()
      defer { board.clear() }
      let nodes = subscribers.map { Structures.subscribe($0, in: board) }
      let handled = Counter()
      Threads.run(3) { thread in
        for post in 0..<20 {
          if thread == 2 {
            if post == round % 20 { nodes[0].terminate(as: .cancelled) }
          } else {
            board.post(Structures.content { handled.increment() }, to: Structures.key)
          }
          for node in nodes { node.visit() }
        }
      }
      for node in nodes { node.visit() }
      var account = Account()
      for node in nodes { account += node.account }
      let addressed = board.index(of: Structures.key)?.addressed
      #expect(account.addressed == addressed)
      #expect(account.handled == handled.value)
      #expect(account.waiting == 0)
      #expect(nodes[1].account == Account(handled: 40))
    }
  }
}

private final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  var value: Int { count.load(ordering: .sequentiallyConsistent) }

  func increment() {
    count.add(1, ordering: .sequentiallyConsistent)
  }
}

extension Mailbox {
  fileprivate func lookBusy() {
    for number in 0..<300 { _ = account(published: number) }
  }
}

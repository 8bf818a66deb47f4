import Testing

@testable import Delegation

@Suite("Mailbox: a subscriber's place in the chain of notifications", .inTurn(.heavy))
struct MailboxTests {
  @Test("every history of nine steps keeps order and account, and strands nothing")
  func unbounded() {
    let exploration = MailboxWorld(.unbounded).explore(upTo: 9)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 30_000)
  }

  @Test(
    "every history of eight steps under a limit drops what it should and strands nothing",
    arguments: [
      DelegateHub.MailboxPolicy.dropOldest(limit: 2), .dropNewest(limit: 1),
      .dropNewest(limit: 2), .latest,
    ])
  func limited(policy: DelegateHub.MailboxPolicy) {
    let exploration = MailboxWorld(policy).explore(upTo: 8)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 10_000)
  }

  @Test("what was posted before the subscription is for others")
  func startsAtTheEnd() {
    let recorder = Recorder<Int>()
    var first = Structures.chain(of: 4, handling: recorder.record)
    for _ in 0..<2 { first = first.next! }
    var mailbox = Mailbox(at: first, number: 2)
    #expect(mailbox.begin(published: 2) == nil)
    #expect(mailbox.account(published: 2).addressed == 0)
    handleAll(in: &mailbox, published: 4)
    #expect(recorder.history == [2, 3])
    #expect(mailbox.account(published: 4) == Account(handled: 2))
  }

  @Test("a worker that finds a flood handles what it came for, and then has another one come")
  func flood() {
    let recorder = Recorder<Int>()
    var mailbox = Mailbox(at: Structures.chain(of: 100, handling: recorder.record), number: 0)
    var published = 10
    var pauses = 0
    var next =
      mailbox.attend(published: published) ? mailbox.proceed(published: published) : nil
    while let step = next {
      switch step {
      case .handle(let content):
        _ = try? content.run()
        // With each one handled, one more is posted and another worker finds it attended.
        if published < 100 { published += 1 }
        #expect(mailbox.attend(published: published) == false)
        next = mailbox.advance(after: .handled, published: published)
      case .more:
        pauses += 1
        #expect(mailbox.attend(published: published) == true)
        next = mailbox.proceed(published: published)
      case .elsewhere, .done:
        next = nil
      }
    }
    #expect(recorder.history == Array(0..<100))
    #expect(pauses == 9)
  }

  @Test("a flag that has been served makes nobody pause again")
  func noteServed() {
    var mailbox = Mailbox(at: Structures.chain(of: 3), number: 0)
    #expect(mailbox.begin(published: 1) != nil)
    #expect(mailbox.begin(published: 1) == nil)
    let first = mailbox.advance(after: .handled, published: 1)
    #expect(mailbox.begin(published: 2) != nil)
    // The third one's own fan-out has yet to look.
    let second = mailbox.advance(after: .handled, published: 3)
    for step in [first, second] {
      if case .done = step { continue }
      Issue.record("not done, but \(step)")
    }
    #expect(mailbox.begin(published: 3) != nil)
  }

  @Test("a mailbox that is closed hands out nothing, even what was posted before")
  func closed() {
    let recorder = Recorder<Int>()
    var mailbox = Mailbox(at: Structures.chain(of: 3, handling: recorder.record), number: 0)
    mailbox.end(at: 3, as: .expired)
    #expect(mailbox.begin(published: 3) == nil)
    #expect(mailbox.account(published: 3) == Account(expired: 3))
    mailbox.end(at: 2, as: .cancelled)
    #expect(mailbox.account(published: 3) == Account(expired: 3))
    #expect(recorder.history == [])
  }

  @Test("each number is owed until its handler has been reported on, or it is lost")
  func hasPending() {
    var mailbox = Mailbox(at: Structures.chain(of: 4), number: 0)
    func owed() -> [Int] { (0..<4).filter { mailbox.hasPending($0) } }
    #expect(owed() == [0, 1, 2, 3])
    _ = mailbox.begin(published: 4)
    #expect(owed() == [0, 1, 2, 3])
    _ = mailbox.advance(after: .handled, published: 4)
    #expect(owed() == [1, 2, 3])
    mailbox.end(at: 3, as: .cancelled)
    #expect(owed() == [1])
    _ = mailbox.advance(after: .failed, published: 0)
    #expect(owed() == [])
  }

  @Test("a worker takes nothing more once calls are forbidden, so that a successor has it")
  func forbidden() {
    for policy in [DelegateHub.MailboxPolicy.unbounded, .dropOldest(limit: 9)] {
      var mailbox = Mailbox(at: Structures.chain(of: 5), number: 0, policy: policy)
      _ = mailbox.begin(published: 5)
      guard case .done = mailbox.advance(after: .skipped, published: nil) else {
        Issue.record("it goes on")
        return
      }
      let successor = mailbox.handOver(policy: policy, published: 5)
      #expect(mailbox.account(published: 5) == Account(cancelled: 1))
      #expect(successor?.account(published: 5) == Account(waiting: 4))
    }
  }

  @Test("one that awaits a hand-over is kept shut until it has taken over")
  func inheritingLate() {
    let end = Structures.chain(of: 0)
    var first = Mailbox(at: Structures.chain(of: 3, before: end), number: 0)
    var second = Mailbox(at: end, number: 3, flags: .awaitingHandOver)
    #expect(second.attend(published: 3) == false)
    #expect(second.hasPending(0))
    second.takeOver(from: &first)
    #expect(first.isFinal)
    #expect(first.account(published: 3) == Account())
    #expect(second.account(published: 3) == Account(waiting: 3))
    #expect(second.needsWorker(3))
    #expect(second.begin(published: 3) != nil)
  }

  @Test("one that was succeeded is not final before its successor has taken over")
  func succeeded() {
    let end = Structures.chain(of: 0)
    var first = Mailbox(at: Structures.chain(of: 3, before: end), number: 0)
    first.end(at: 3, as: .succeeded)
    #expect(!first.isFinal)
    #expect(first.account(published: 3) == Account(waiting: 3))
    var second = Mailbox(at: end, number: 3, flags: .awaitingHandOver)
    second.takeOver(from: &first)
    #expect(first.isFinal)
    #expect(second.account(published: 3) == Account(waiting: 3))
  }

  @Test("one that is shut, or has ended, needs no worker")
  func needsWorker() {
    let open = Mailbox(at: Structures.chain(of: 1), number: 0)
    #expect(open.needsWorker(1))
    #expect(!open.needsWorker(nil))
    for flags in [Mailbox.Flags.held, .awaitingHandOver] {
      #expect(!Mailbox(at: Structures.chain(of: 1), number: 0, flags: flags).needsWorker(1))
    }
    var ended = Mailbox(at: Structures.chain(of: 1), number: 0)
    ended.end(at: 1, as: .cancelled)
    #expect(!ended.needsWorker(1))
  }

  @Test(
    "what was taken and has not begun is a successor's, before all that waits",
    arguments: [DelegateHub.MailboxPolicy.unbounded, .dropOldest(limit: 4)])
  func takenBack(policy: DelegateHub.MailboxPolicy) throws {
    var mailbox = Mailbox(at: deferredChain(of: 3), number: 0, policy: policy)
    let begun = mailbox.begin(published: 3)
    let taken = try #require(begun)
    mailbox.poise(taken)
    #expect(mailbox.account(published: 3) == Account(waiting: 2, handling: 1))
    #expect((0..<3).allSatisfy { mailbox.hasPending($0) })
    let heir = mailbox.handOver(policy: .unbounded, published: 3)
    var successor = try #require(heir)
    #expect((0..<3).allSatisfy { !mailbox.hasPending($0) && successor.hasPending($0) })
    #expect(mailbox.settle() == false)
    #expect(mailbox.advance(after: .skipped, published: nil).isDone == true)
    #expect(mailbox.account(published: 3) == Account())
    #expect(successor.account(published: 3) == Account(waiting: 3))
    handleAll(in: &successor, published: 3)
    #expect(successor.account(published: 3) == Account(handled: 3))
    withExtendedLifetime(taken) {}
  }

  @Test("what has begun, or was discarded, is not taken back")
  func notTakenBack() throws {
    for isDeferred in [true, false] {
      let chain = isDeferred ? deferredChain(of: 2) : Structures.chain(of: 2)
      var begun = Mailbox(at: chain, number: 0)
      let next = begun.begin(published: 2)
      let taken = try #require(next)
      if isDeferred { begun.poise(taken) }
      #expect(begun.settle() == true)
      #expect(begun.settle() == true)
      let heir = begun.handOver(policy: .unbounded, published: 2)
      #expect(heir?.account(published: 2) == Account(waiting: 1))
      // Not even if it says so only now.
      begun.poise(taken)
      #expect(begun.settle() == true)
      #expect(begun.advance(after: .handled, published: nil).isDone == true)
      #expect(begun.account(published: 2) == Account(handled: 1))
      withExtendedLifetime(taken) {}
    }
    var ended = Mailbox(at: deferredChain(of: 1), number: 0)
    let next = ended.begin(published: 1)
    let taken = try #require(next)
    ended.poise(taken)
    ended.end(at: 1, as: .cancelled)
    #expect(ended.settle() == true)
    #expect(ended.advance(after: .skipped, published: nil).isDone == true)
    #expect(ended.account(published: 1) == Account(cancelled: 1))
    withExtendedLifetime(taken) {}
  }

  @Test("what has begun is not kept: its captures go with the worker that runs it")
  func notKept() {
    let lifetimes = Lifetimes()
    var mailbox = Mailbox(at: deferredChain(of: 1) { lifetimes.make() }, number: 0)
    if let taken = mailbox.begin(published: 1) { mailbox.poise(taken) }
    #expect(lifetimes.alive == 1)
    #expect(mailbox.settle() == true)
    #expect(lifetimes.alive == 0)
  }

  /// A chain of notifications whose handlers are deferred, each of which captures something.
  private func deferredChain(
    of count: Int, capturing make: () -> any Sendable = { 0 }
  ) -> Notification {
    var chain = Notification()
    for _ in 0..<count {
      let notification = Notification()
      let cargo = make()
      let content = Notification.Content(
        handler: .deferred { _ in
          withExtendedLifetime(cargo) {}
          return .handled
        })
      notification.fill(with: content, followedBy: chain)
      chain = notification
    }
    return chain
  }

  @Test("what was posted before the subscription began is never owed")
  func owesFromStart() throws {
    let third = try #require(Structures.chain(of: 4).next?.next)
    var mailbox = Mailbox(at: third, number: 2)
    func owed() -> [Int] { (0..<4).filter { mailbox.hasPending($0) } }
    #expect(owed() == [2, 3])
    _ = mailbox.begin(published: 3)
    #expect(owed() == [2, 3])
    _ = mailbox.advance(after: .handled, published: 3)
    #expect(owed() == [3])
    // A successor owes what its predecessor had taken in and not handled, from there on.
    mailbox.setPolicy(.latest)
    mailbox.store(upTo: 4)
    let successor = mailbox.handOver(policy: .latest, published: 4)
    #expect(owed() == [])
    #expect((0..<4).filter { successor?.hasPending($0) == true } == [3])
  }

  @Test(
    "a smaller limit also holds for what waits already, once something more comes",
    arguments: [
      (DelegateHub.MailboxPolicy.latest, [4]), (.dropOldest(limit: 2), [3, 4]),
      (.dropNewest(limit: 2), [0, 1]),
    ])
  func smallerLimit(policy: DelegateHub.MailboxPolicy, left: [Int]) {
    let recorder = Recorder<Int>()
    var mailbox = Mailbox(
      at: Structures.chain(of: 5, handling: recorder.record), number: 0,
      policy: .dropOldest(limit: 4))
    mailbox.store(upTo: 4)
    #expect(mailbox.account(published: 4) == Account(waiting: 4))
    mailbox.setPolicy(policy)
    mailbox.store(upTo: 4)
    handleAll(in: &mailbox, published: 5)
    #expect(recorder.history == left)
    #expect(mailbox.account(published: 5) == Account(handled: left.count, dropped: 5 - left.count))
  }

  private func handleAll(in mailbox: inout Mailbox, published: Int) {
    var next = mailbox.begin(published: published)
    while let content = next {
      _ = try? content.run()
      guard case .handle(let following) = mailbox.advance(after: .handled, published: published)
      else { return }
      next = following
    }
  }
}

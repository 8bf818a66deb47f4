import Synchronization
import Testing

@testable import Delegation

@Suite("SubscriptionNode: what it lets happen, open and closed")
struct SubscriptionNodeTests {
  let board = Switchboard()
  let subscriber = Nobody()
  let node: SubscriptionNode

  init() {
    node = Structures.subscribe(subscriber, in: board)
    board.post(Structures.content(), to: Structures.key)
  }

  @Test("no worker attends it, though what waited is not accounted for yet")
  func attending() throws {
    defer { board.clear() }
    _ = try #require(board.beginTermination(on: node))
    #expect(!node.attend())
    #expect(node.attend(at: nil).isDone)
  }

  @Test("a worker that attends when it is closed is given nothing more")
  func attended() throws {
    defer { board.clear() }
    #expect(node.attend())
    let end = try #require(board.beginTermination(on: node))
    #expect(node.proceed().isDone)
    node.finishTermination(at: end, as: .cancelled)
    #expect(node.account == Account(cancelled: 1))
  }

  @Test("a worker that has seen what was posted before it was closed does not attend after that")
  func attendedTooLate() throws {
    defer { board.clear() }
    let end = try #require(board.beginTermination(on: node))
    // Its mailbox does not know yet.
    let isAttended = node.contents.withLock { node.attend(&$0.mailbox, end) }
    #expect(!isAttended)
    node.finishTermination(at: end, as: .cancelled)
    #expect(node.account == Account(cancelled: 1))
    #expect(node.isIdle)
  }

  @Test("no call begins, and a call that was refused is not counted")
  func refused() {
    defer { board.clear() }
    node.terminate(as: .cancelled)
    #expect(!node.beginCall())
    #expect(node.runningCalls == 0)
    #expect(node.isIdle)
  }

  @Test("a call on one that has died is none, and ends the subscription as expired")
  func dead() {
    defer { board.clear() }
    var mortal: Nobody? = Nobody()
    let node = Structures.subscribe(mortal!, in: board)
    board.post(Structures.content(), to: Structures.key)
    mortal = nil
    #expect(node.subscriber(as: Nobody.self, for: .vote) == nil)
    #expect(node.runningCalls == 0)
    #expect(!node.isOpen && node.isIdle)
    #expect(node.account == Account(expired: 1))
  }

  @Test(
    "asked as a further protocol after its death it is absent, and has ended as expired",
    arguments: [false, true])
  func deadThoughItConformed(wasAsked: Bool) {
    defer { board.clear() }
    let narrowing = Narrowing(to: Nobody.self, within: nil)
    var mortal: Nobody? = Nobody()
    let node = Structures.subscribe(mortal!, in: board)
    board.post(Structures.content(), to: Structures.key)
    if wasAsked {
      #expect(node.subscriber(as: Nobody.self, conformingTo: narrowing, for: .vote) != nil)
    }
    mortal = nil
    #expect(node.subscriber(as: Nobody.self, conformingTo: narrowing, for: .vote) == nil)
    #expect(!node.isOpen && node.isIdle)
    #expect(node.account == Account(expired: 1))
  }

  @Test("one that has ended is not active, and nobody attends it")
  func inactive() {
    defer { board.clear() }
    #expect(node.isActive(endingIn: nil))
    node.terminate(as: .cancelled)
    #expect(!node.isActive(endingIn: nil))
  }

  @Test("nothing is left of who has waited for its handlers")
  func waiter() {
    defer { board.clear() }
    var waiter: Waiter? = Waiter()
    weak let trace = waiter
    if let waiter {
      node.topic.updateWaiters(for: node) { $0.add(waiter) }
      #expect(waiter.outcome == true)
      node.topic.updateWaiters(for: node) { $0.remove(waiter) }
    }
    waiter = nil
    #expect(trace == nil)
  }

  @Test("its handlers look for who waits for them until the last one has ended")
  func awaited() {
    defer { board.clear() }
    func isAwaited() -> Bool {
      node.state.load(ordering: .relaxed) & SubscriptionNode.Bits.awaited != 0
    }
    #expect(node.beginCall())
    #expect(node.beginCall())
    let waiter = Waiter()
    node.topic.updateWaiters(for: node) { $0.add(waiter) }
    node.endCall()
    #expect(waiter.outcome == nil)
    #expect(isAwaited())
    node.endCall()
    #expect(waiter.outcome == true)
    #expect(!isAwaited())
  }

  @Test("who is told that it failed, or was late, finds that counted")
  func misses() {
    let seen = Recorder<QuestionAccount>()
    let telling = Switchboard { seen.record($0.subscription.node.questions) }
    defer {
      telling.clear()
      board.clear()
    }
    let node = Structures.subscribe(subscriber, in: telling)
    let worker = Worker(activity: telling.activity, caller: nil)
    #expect(node.beginCall())
    worker.note(CallFailure(Refusal(), isTold: true))
    worker.end(node, in: .vote, watchedBy: nil, isCancelled: false)
    node.noteLate(in: .vote)
    #expect(seen.history == [QuestionAccount(failed: 1), QuestionAccount(failed: 1, late: 1)])
  }

  @Test(
    "so many that its word cannot count them are counted all the same, and those that run as well")
  func full() {
    defer { board.clear() }
    typealias Bits = SubscriptionNode.Bits
    let most = Int(Bits.full / Bits.asked)
    #expect(node.beginCall())
    // As if it had been asked and had answered so often.
    node.state.wrappingAdd(Bits.full - 3 * Bits.asked, ordering: .relaxed)
    for number in 0..<6 {
      #expect(node.questions == QuestionAccount(answered: most - 3 + number, answering: 1))
      #expect(node.beginCall())
      node.endCall()
    }
    #expect(node.state.load(ordering: .relaxed) & Bits.full == 0)
    node.endCall(as: .unasked)
    #expect(node.questions == QuestionAccount(answered: most + 3))
    #expect(node.isOpen && node.runningCalls == 0)
  }

  @Test("who counts a call before it begins makes room as well, once, though several find it full")
  func fullForSeveral() {
    defer { board.clear() }
    typealias Bits = SubscriptionNode.Bits
    let most = Int(Bits.full / Bits.asked)
    node.state.wrappingAdd(Bits.full, ordering: .relaxed)
    let words = (0..<4).map { _ in node.countCall() }
    #expect(words.allSatisfy { $0 & Bits.full != 0 })
    #expect(node.mayBegin())
    #expect(node.state.load(ordering: .relaxed) & Bits.full == 0)
    for word in words { #expect(node.goOnWithCall(since: word)) }
    #expect(node.questions == QuestionAccount(answered: most, answering: 4))
    for _ in words { node.endCall() }
    #expect(node.questions == QuestionAccount(answered: most + 4))
    #expect(node.isOpen && node.runningCalls == 0)
  }

  @Test(
    "one that has ended is remembered until its call ends, however that ends",
    arguments: [CallEnd.answered, .failed, .abandoned, .late, .unasked])
  func remembered(end: CallEnd) {
    defer { board.clear() }
    var remembered: Int { node.topic.state.withLock { $0.endings.nodes.count } }
    #expect(node.beginCall())
    node.terminate(as: .cancelled)
    #expect(remembered == 1)
    node.endCall(as: end)
    #expect(remembered == 0)
  }

  @Test("it is elsewhere from when it has an executor on, and takes no lock otherwise")
  func elsewhere() {
    defer { board.clear() }
    // `nil` is not named: the executor stays.
    var own: ManualExecutor?
    for executor in [nil, ManualExecutor(), nil, ManualExecutor(), ManualExecutor(), nil] {
      own = executor ?? own
      let again = Structures.subscribe(subscriber, in: board, on: executor)
      #expect(again === node)
      #expect(node.hasExecutor == (own != nil))
      #expect(node.executor === own)
    }
  }

  @Test("options that are applied late replace no newer ones, which have all that was named")
  func lateOptions() throws {
    defer { board.clear() }
    let (old, new) = (ManualExecutor(), ManualExecutor())
    let first = SubscriptionOptions(executor: old)
    let named = try #require(SubscriptionOptions(of: 0, id: Identity("a"), policy: .latest))
    let second = SubscriptionOptions(named, over: first)
    let third = SubscriptionOptions(SubscriptionOptions(executor: new), over: second)
    for options in [third, first, second] { node.setOptions(options) }
    #expect(node.executor === new)
    #expect(node.id === second.id)
    #expect(node.contents.withLock { $0.options } === third)
  }

  @Test("it is not idle as long as a call runs, however often somebody asks")
  func running() {
    defer { board.clear() }
    #expect(node.beginCall())
    #expect(node.beginCall())
    node.terminate(as: .cancelled)
    for left in [2, 1] {
      #expect(node.runningCalls == left)
      #expect(!node.isIdle)
      node.endCall()
    }
    #expect(node.runningCalls == 0)
    #expect(node.isIdle)
  }

  @Test("what was dropped before a worker came by is accounted for when somebody looks")
  func dropping() {
    defer { board.clear() }
    let other = Nobody()
    let limited = Structures.subscribe(other, in: board, policy: .dropOldest(limit: 1))
    for _ in 0..<3 { board.post(Structures.content(), to: Structures.key) }
    #expect(limited.account == Account(dropped: 2, waiting: 1))
  }

  @Test("subscriptions are told apart by their hashes")
  func hashes() {
    let hub = DelegateHub()
    let probes = Probe.many(100)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    #expect(Set(subscriptions.map(\.hashValue)).count > 90)
    board.clear()
  }
}

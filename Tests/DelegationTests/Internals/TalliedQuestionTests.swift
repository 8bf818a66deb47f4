import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Delegation

@Suite("Question: one tally, many workers, one caller", .inTurn(.heavy))
struct TalliedQuestionTests {
  private typealias Sums = TalliedQuestion<Tally<Script, Never>>

  /// Adds up, and does something with each response before it is counted.
  fileprivate struct Script: Combiner {
    var decisive = Int.max
    var onReceive: @Sendable (Int) -> Void = { _ in }
    private var sum = 0

    init(decisive: Int = .max, onReceive: @escaping @Sendable (Int) -> Void = { _ in }) {
      self.decisive = decisive
      self.onReceive = onReceive
    }

    mutating func receive(_ response: Int, from position: Int) -> Int? {
      onReceive(response)
      sum += response
      return sum >= decisive ? sum : nil
    }

    mutating func finish() -> Int { sum }
  }

  private let board = Board()
  private let subscribers = (0..<6).map { _ in Nobody() }
  private let nodes: [SubscriptionNode]

  init() {
    nodes = subscribers.enumerated().map { [board] in
      board.subscribe($1, id: $0 == 0 ? "place" : nil)
    }
  }

  /// A question that nobody works for.
  private func question(
    asking count: Int, on executor: (any TaskExecutor)? = nil, _ script: Script = Script()
  ) -> Sums {
    let question = Sums(
      Tally(asking: count, combiner: script), of: Array(nodes.prefix(count)), recipients: nil,
      in: Board.core(on: executor))
    _ = question.tally.begin()
    return question
  }

  private func outcome(_ question: Sums) -> Int? {
    question.isDecided ? question.outcome.first?.get() : nil
  }

  @Test("what comes while a worker counts is left to that one, in order, and counted to the end")
  func leaving() {
    defer { board.clear() }
    let (counted, depth, here) = (Recorder<Int>(), Count(), Recorder<Sums>())
    let question = question(
      asking: 6,
      Script { [nodes] response in
        depth.add(1)
        if depth.value > 1 { counted.record(-1) }
        counted.record(response)
        // From within the count, as others do from their threads.
        for next in [1: [2, 3], 3: [4, 5], 5: [6]][response] ?? [] {
          here.history.first?.take(next, from: next - 1, of: nodes)
        }
        depth.add(-1)
      })
    here.record(question)
    question.take(1, from: 0, of: nodes)
    #expect(counted.history == [1, 2, 3, 4, 5, 6] && outcome(question) == 21)
    here.clear()
  }

  @Test("what is queued is counted before the worker stops, and nothing after the decision")
  func queued() {
    defer { board.clear() }
    let counted = Recorder<Int>()
    let question = question(asking: 4, Script(decisive: 3) { counted.record($0) })
    // Another worker counts.
    let isFree = question.isCounting.exchange(true, ordering: .relaxed)
    let isTaken = (0..<3).map { question.leave($0 + 1, from: $0, of: nodes) }
    #expect(!isFree && isTaken == [false, false, false] && outcome(question) == nil)
    _ = question.conclude(false, by: nil)
    #expect(counted.history == [1, 2] && outcome(question) == 3)
    #expect(question.state.withLock { $0.queue.isEmpty })
    #expect(nodes.prefix(4).map(\.questions.answered) == [1, 1, 0, 0])
    #expect(nodes.prefix(4).map(\.questions.abandoned) == [0, 0, 1, 0])
    question.take(4, from: 3, of: nodes)
    question.expire { _ in .response(100) }
    #expect(counted.history == [1, 2] && nodes.map(\.runningCalls) == [0, 0, 0, 0, 0, 0])
    #expect(nodes[3].questions.abandoned == 1)
  }

  @Test("an answer that is left while the counting worker stops is counted, however the two meet")
  func stopping() {
    defer { board.clear() }
    for _ in 0..<10 {
      let steps = (0..<3).map { _ in DispatchSemaphore(value: 0) }
      let (counts, mayStop, mayLeave) = (steps[0], steps[1], steps[2])
      let question = question(
        asking: 2,
        Script { response in
          guard response == 1 else { return }
          counts.signal()
          mayStop.wait()
        })
      Threads.run(3) { [nodes] thread in
        switch thread {
        case 0: question.take(1, from: 0, of: nodes)
        case 1:
          mayLeave.wait()
          question.take(2, from: 1, of: nodes)
        default:
          counts.wait()
          // Both come to the question's lock, first the one that stops. Of two sections there, the other one's would
          // be between them: Linux hands the lock on in the order of arrival.
          question.state.withLock { _ in
            mayStop.signal()
            Threads.pause(300)
            mayLeave.signal()
            Threads.pause(300)
          }
        }
      }
      #expect(outcome(question) == 3)
    }
  }

  @Test("no answer is lost, and no subscription claimed twice, however threads meet")
  func race() {
    defer { board.clear() }
    let number = rounds(4000)
    let questions = number.map { _ in question(asking: 4) }
    let (meeting, claimed) = (Meeting(of: 2), Count())
    let played = Count()
    Threads.run(2) { [nodes] thread in
      for round in number {
        guard meeting.await(round) else { return }
        if thread == 0 { played.add(1) }
        // In turn one of them comes a little later.
        if round % 2 == thread { for _ in 0..<(round / 2 % 30) { _ = questions[round].isDecided } }
        while let claim = questions[round].state.claimNext() {
          claimed.add(1)
          questions[round].take(1, from: claim.position, of: nodes, isCounted: true)
        }
      }
    }
    #expect(played.value > 0 && claimed.value == 4 * played.value)
    #expect(questions.prefix(played.value).count { outcome($0) != 4 } == 0)
    #expect(nodes.map(\.runningCalls) == [0, 0, 0, 0, 0, 0])
  }

  @Test("a deadline waits for a rule that blocks, and the thread that brings it does not")
  func blockedRule() async {
    defer { board.clear() }
    let (blockade, hasCounted) = (Blockade(), Gate())
    let question = Sums(
      Tally(
        asking: 2, combiner: Script { if $0 == 1 { blockade.enter() } }, hasDeadline: true),
      of: Array(nodes.prefix(2)), recipients: nil, in: Board.core())
    _ = question.tally.begin()
    // On a thread of its own, for it is blocked.
    Thread { [nodes] in
      question.take(1, from: 0, of: nodes)
      hasCounted.arrive()
    }.start()
    await blockade.entry()
    question.expire { _ in .response(10) }
    #expect(outcome(question) == nil)
    #expect(blockade.end(), "the one that brought the deadline waited for the rule")
    await hasCounted.arrivals()
    #expect(outcome(question) == 11)
  }

  @Test("the caller goes on with the decision, once nothing is kept of what was needed for it")
  func caller() async {
    defer { board.clear() }
    let lifetimes = Lifetimes()
    let (asked, needed) = (lifetimes.make(), lifetimes.make())
    let question = Sums(
      Tally(asking: 1, combiner: Script { _ in withExtendedLifetime(needed) {} }),
      of: [nodes[0]], recipients: nil, in: Board.core(), holding: asked)
    _ = question.tally.begin()
    let claim = question.state.claimNext()
    question.core.countWorker()
    // There it goes on before the one that resumes it does anything else.
    let caller = Task(executorPreference: PromptExecutor()) {
      await question.awaitDecision()
      return [
        question.isDecided, question.tally.combiner == nil,
        question.state.withLock { $0.held.ask == nil },
      ]
    }
    while question.state.withLock({ $0.waiter == nil }) { await Task.yield() }
    question.take(5, from: claim?.position ?? 1, of: nodes, isCounted: true)
    #expect(await caller.value == [true, true, true])
    #expect(question.takeDecision().get() == 5 && question.core.workers.value == 0)
  }

  @Test("who comes to a place after the decision is not asked, though its claim was there before")
  func heir() {
    defer { board.clear() }
    // Alive to the end: nobody follows to a place whose subscriber has died.
    let heirs = [Nobody(), Nobody()]
    for (heir, isDecided) in zip(heirs, [false, true]) {
      let question = question(asking: 2, Script(decisive: 1))
      guard var claim = question.state.claimNext() else { fatalError("there is nothing to claim") }
      let worker = Worker(for: question.core.number, caller: nil)
      // Between the claim and its beginning.
      _ = board.subscribe(heir, id: "place")
      if isDecided { question.take(1, from: 1, of: nodes) }
      #expect(!question.beginHandler(of: claim.node, by: worker))
      #expect(question.claimReplacement(&claim, by: worker) == !isDecided)
      claim.node.endCall()
    }
    withExtendedLifetime(heirs) {}
  }

  private struct Work: WorkSharing {
    var work: WorkQueue
  }

  @Test("each position is claimed once, in order; a spare worker is requested", arguments: 0...4)
  func workQueue(count: Int) {
    defer { board.clear() }
    let shared = Lock(Work(work: WorkQueue(Array(nodes.prefix(count)))))
    var requests = 0
    var positions = [shared.begin { requests += 1 }?.position]
    #expect(requests == (count > 1 ? 1 : 0))
    for _ in 0..<count { positions.append(shared.claimNext()?.position) }
    #expect(positions == Array(0..<count) + [nil])
    // The worker that claims the last one releases the list.
    #expect(shared.withLock { $0.work.nodes.isEmpty && $0.work.unclaimed == 0 })
    shared.provideSpare { requests += 1 }
    #expect(requests == (count > 1 ? 1 : 0))
  }
}

extension TalliedQuestion {
  /// A question without a deadline, whose workers ask nobody.
  fileprivate convenience init(
    _ tally: Count, of nodes: [SubscriptionNode], recipients: RecipientFilter?, in core: HubCore,
    holding captured: (any Sendable)? = nil
  ) {
    self.init(tally, of: nodes, admittedBy: recipients, in: core, .vote) { _, _, _ in
      withExtendedLifetime(captured) { nil }
    }
  }
}

extension TalliedQuestion<Tally<TalliedQuestionTests.Script, Never>> {
  /// Counts an answer, as a worker does that has asked; what a worker claims is counted as asked.
  fileprivate func take(
    _ response: Int, from position: Int, of nodes: [SubscriptionNode], isCounted: Bool = false
  ) {
    let worker = Worker(for: core.number, caller: nil, only: true)
    worker.begin(nodes[position])
    if !isCounted { _ = nodes[position].countCall() }
    let claim = WorkQueue.Claim(
      node: nodes[position], position: position, isLast: false, isMarkedAsked: true)
    _ = take(.response(response), from: claim, by: worker)
  }

  /// Leaves an answer to the worker that counts.
  ///
  /// - Returns: whether this one counts now.
  fileprivate func leave(_ response: Int, from position: Int, of nodes: [SubscriptionNode]) -> Bool
  {
    _ = nodes[position].countCall()
    return enqueue(ending: nodes[position]) {
      self.setDecision(self.tally.count(.response(response), from: position))
    }
  }
}

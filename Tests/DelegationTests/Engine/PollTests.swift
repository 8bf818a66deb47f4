import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Delegation

@Suite("Poll: one ballot, many workers, one caller", .inTurn)
struct PollTests {
  private typealias Sums = Poll<Ballot<Script, Never>>

  /// Adds up, and does something with each response before it is counted.
  struct Script: Combiner {
    var decisive = Int.max
    let onReceive: @Sendable (Int) -> Void
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

  /// A round that nobody works for.
  private func round(for hub: DelegateHub = DelegateHub()) -> Round {
    Round(asking: [], for: hub, in: .vote) { _, _, _ in nil }
  }

  private func poll(asking count: Int, _ script: Script) -> Sums {
    let poll = Sums(Ballot(asking: count, combiner: script))
    #expect(poll.ballot.begin() == nil)
    return poll
  }

  private func outcome(_ poll: Sums, in round: Round) -> Int? {
    round.isDecided ? poll.outcome.first?.get() : nil
  }

  private func isCounting(_ round: Round) -> Bool { round.isBallotTaken.load(ordering: .relaxed) }

  /// Somebody counts.
  private func beginCount(in round: Round) {
    let hasBallot = round.takeBallot()
    #expect(hasBallot)
  }

  @Test("what comes while somebody counts is left to that one, in order, and counted to the end")
  func leaving() {
    let round = round()
    let counted = Recorder<Int>()
    let depth = Lock(0)
    let here = Lock<Sums?>(nil)
    let poll = poll(
      asking: 6,
      Script { response in
        #expect(depth.withLock { $0 } == 0, "two count at once")
        depth.withLock { $0 += 1 }
        counted.record(response)
        // What comes now is a reason to look into the queue once more.
        #expect(isCounting(round))
        // From within the count, as others do from their threads.
        let more = [1: [2, 3], 3: [4, 5], 5: [6]][response] ?? []
        for next in more {
          here.withLock { $0 }?.take(.response(next), from: next - 1, in: round)
        }
        depth.withLock { $0 -= 1 }
      })
    here.withLock { $0 = poll }
    poll.take(.response(1), from: 0, in: round)
    #expect(counted.history == [1, 2, 3, 4, 5, 6])
    #expect(outcome(poll, in: round) == 21)
    #expect(round.state.withLock { $0.cursor.isHalted })
    here.withLock { $0 = nil }
  }

  @Test("whoever finds the ballot put back while leaving an answer takes it up")
  func putBackMeanwhile() {
    let round = round()
    let poll = poll(asking: 1, Script())
    #expect(poll.enqueue(.response(7), from: 0, in: round))
    #expect(isCounting(round))
    _ = poll.conclude(false, by: nil, in: round)
    #expect(outcome(poll, in: round) == 7)
  }

  @Test("only one of those who leave answers tells the one who counts, and none takes the ballot")
  func alreadyQueued() {
    let round = round()
    let poll = poll(asking: 3, Script())
    beginCount(in: round)
    #expect(!poll.enqueue(.response(1), from: 0, in: round))
    #expect(!poll.enqueue(.response(2), from: 1, in: round))
    #expect(round.state.withLock { $0.poll.queue.count } == 2)
    _ = poll.conclude(poll.keep(poll.ballot.count(.response(4), from: 2)), by: nil, in: round)
    #expect(outcome(poll, in: round) == 7)
  }

  @Test("having counted what was queued, the one who counts puts the ballot back for the next")
  func putBack() {
    let round = round()
    let poll = poll(asking: 3, Script())
    beginCount(in: round)
    _ = poll.enqueue(.response(1), from: 0, in: round)
    _ = poll.conclude(poll.keep(poll.ballot.count(.response(2), from: 1)), by: nil, in: round)
    #expect(!isCounting(round))
    #expect(outcome(poll, in: round) == nil)
    #expect(!round.state.withLock { $0.cursor.isHalted })
    poll.take(.response(4), from: 2, in: round)
    #expect(outcome(poll, in: round) == 7)
  }

  @Test("what comes after the decision is neither counted nor kept")
  func afterTheDecision() {
    let round = round()
    let counted = Recorder<Int>()
    let poll = poll(asking: 3, Script(decisive: 1) { counted.record($0) })
    poll.take(.response(1), from: 0, in: round)
    poll.take(.response(2), from: 1, in: round)
    poll.expire(in: round) { _ in .response(100) }
    #expect(!poll.enqueue(.response(3), from: 2, in: round))
    #expect(round.state.withLock { $0.poll.queue.isEmpty })
    #expect(counted.history == [1])
    #expect(outcome(poll, in: round) == 1)
  }

  @Test("what is queued when the count is decided is released uncounted")
  func queuedAtTheDecision() {
    let round = round()
    let counted = Recorder<Int>()
    let poll = poll(asking: 3, Script(decisive: 2) { counted.record($0) })
    beginCount(in: round)
    _ = poll.enqueue(.response(2), from: 0, in: round)
    _ = poll.enqueue(.response(3), from: 1, in: round)
    _ = poll.conclude(false, by: Worker(activity: Activity(), caller: nil), in: round)
    #expect(counted.history == [2])
    #expect(outcome(poll, in: round) == 2)
    #expect(round.state.withLock { $0.poll.queue.isEmpty && $0.poll.waiting == nil })
  }

  @Test("those still at work are cancelled if anybody is outstanding, and only then")
  func cancelling() {
    for asked in 1...2 {
      let round = round()
      let poll = poll(asking: asked, Script(decisive: 1))
      poll.take(.response(1), from: 0, in: round)
      #expect(outcome(poll, in: round) == 1)
      #expect(round.isCancelled == (asked == 2))
    }
  }

  @Test("a deadline waits for a combiner that blocks, and whoever brings it does not")
  func blockedCombiner() async {
    let round = round()
    let (blockade, hasCounted) = (Blockade(), Gate())
    let script = Script { response in if response == 1 { blockade.enter() } }
    let poll = Sums(Ballot(asking: 2, combiner: script, hasDeadline: true))
    // On a thread of its own, for it is blocked.
    Thread {
      poll.take(.response(1), from: 0, in: round)
      hasCounted.arrive()
    }.start()
    await blockade.entry()
    poll.expire(in: round) { _ in .response(10) }
    #expect(outcome(poll, in: round) == nil)
    #expect(blockade.end(), "whoever brought the deadline waited for the combiner")
    await hasCounted.arrivals()
    #expect(outcome(poll, in: round) == 11)
  }

  @Test("whoever decides does not run the others' cancellation handlers")
  func cancellingElsewhere() async {
    let executor = ThreadPool(threads: 2)
    let round = round(for: DelegateHub(on: executor))
    let poll = poll(asking: 2, Script(decisive: 1))
    let (gate, blockade) = (Gate(), Blockade())
    let place = round.state.withLock { $0.workers.reserve() }
    let isCancelled = Lock(false)
    let outstanding = Task<Void, any Error> {
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        blockade.enter()
      }
      isCancelled.withLock { $0 = Task.isCancelled }
    }
    _ = round.state.withLock { $0.workers.keep(outstanding, at: place) }
    await gate.arrivals()
    poll.take(.response(1), from: 0, in: round)
    await blockade.entry()
    #expect(blockade.end(), "the one who decided ran the cancellation handler")
    gate.open()
    _ = await outstanding.result
    #expect(isCancelled.withLock { $0 })
  }

  @Test("whoever decides while nobody else is at work starts no task to cancel them")
  func nobodyToCancel() {
    let executor = ManualExecutor()
    let round = round(for: DelegateHub(on: executor))
    let poll = poll(asking: 2, Script(decisive: 1))
    let hasCounted = Lock(false)
    let deciding = Task<Void, any Error>(executorPreference: executor) {
      poll.take(.response(1), from: 0, in: round)
      #expect(executor.pending == 0)
      #expect(!Task.isCancelled)
      hasCounted.withLock { $0 = true }
    }
    _ = round.state.withLock { $0.workers.keep(deciding, at: WorkerTasks.firstPlace) }
    executor.run()
    #expect(hasCounted.withLock { $0 })
    #expect(round.isCancelled)
  }

  @Test("the caller goes on with the decision, be it there before or after the caller waits")
  func caller() async {
    for isEarly in [false, true] {
      let round = round()
      let poll = poll(asking: 1, Script())
      if isEarly { poll.take(.response(5), from: 0, in: round) }
      let waiting = Task {
        await round.waitForDecision()
        return Poll.takeDecision(of: poll).get()
      }
      if !isEarly {
        while round.state.withLock({ $0.poll.waiting == nil }) { await Task.yield() }
        poll.take(.response(5), from: 0, in: round)
      }
      #expect(await waiting.value == 5)
      #expect(round.state.withLock { $0.poll.waiting == nil })
    }
  }

  @Test("while something is queued, the one who counts keeps the ballot")
  func keptWhileQueued() {
    let round = round()
    let poll = poll(asking: 2, Script())
    func giveBack() -> Bool { round.state.withLock { round.giveBackBallot($0.poll) } }
    beginCount(in: round)
    #expect(!poll.enqueue(.response(1), from: 0, in: round))
    let isGivenBack = [giveBack(), isCounting(round)]
    #expect(isGivenBack == [false, true])
    let decides = round.countNext()
    #expect(!decides)
    let isGivenBackThen = [giveBack(), isCounting(round)]
    #expect(isGivenBackThen == [true, false])
  }

  @Test("an answer that is left while the ballot is put back is counted, whoever comes first")
  func putBackInTheSection() {
    for _ in 0..<10 {
      let round = round()
      let steps = (0..<3).map { _ in DispatchSemaphore(value: 0) }
      let (counts, mayPutBack, mayLeave) = (steps[0], steps[1], steps[2])
      let poll = poll(
        asking: 2,
        Script { response in
          guard response == 1 else { return }
          counts.signal()
          mayPutBack.wait()
        })
      Threads.run(3) { thread in
        switch thread {
        case 0:
          poll.take(.response(1), from: 0, in: round)
        case 1:
          mayLeave.wait()
          poll.take(.response(2), from: 1, in: round)
        default:
          counts.wait()
          // Both come to the round's lock, first the one who puts back. Of two sections there, the other one's would be
          // between them: Linux hands the lock on in the order of arrival.
          round.state.withLock { _ in
            mayPutBack.signal()
            Threads.pause(300)
            mayLeave.signal()
            Threads.pause(300)
          }
        }
      }
      #expect(outcome(poll, in: round) == 3)
    }
  }

  @Test("no answer is lost, however threads meet")
  func race() {
    let number = rounds(4000)
    let polls = number.map { _ in poll(asking: 4, Script()) }
    let hub = DelegateHub()
    let shared = number.map { _ in self.round(for: hub) }
    let meeting = Meeting(of: 2)
    let held = Atomic<Int>(0)
    Threads.run(2) { thread in
      for round in number {
        guard meeting.await(round) else { return }
        for turn in 0..<2 {
          polls[round].take(.response(1), from: 2 * thread + turn, in: shared[round])
        }
        if thread == 0 { held.store(round + 1, ordering: .relaxed) }
      }
    }
    let raced = Array(zip(polls, shared).prefix(held.load(ordering: .relaxed)))
    #expect(!raced.isEmpty)
    #expect(raced.count { outcome($0, in: $1) != 4 } == 0)
  }
}

extension Poll {
  /// Counts an answer of the first worker's.
  fileprivate func take(_ answer: Event, from position: Int, in round: Round) {
    let worker = Worker(activity: round.activity, caller: nil, at: WorkerTasks.firstPlace)
    var claim = Round.Claim(node: Structures.node(of: Nobody()), position: position, isLast: false)
    claim.count()
    _ = take(answer, from: claim, by: worker, in: round)
  }

  /// Leaves an answer to the one who counts.
  fileprivate func enqueue(_ answer: Event, from position: Int, in round: Round) -> Bool {
    round.enqueue { self.keep(self.ballot.count(answer, from: position)) }
  }
}

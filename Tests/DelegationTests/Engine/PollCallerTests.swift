import Testing

@testable import Delegation

@Suite("Poll: when the caller goes on", .inTurn)
struct PollCallerTests {
  private typealias Votes = Poll<Ballot<Keeper, Never>>

  /// Is content with the first answer, and keeps an object.
  private struct Keeper: Combiner {
    let kept: Lifetimes.Tracked

    mutating func receive(_ response: Bool, from position: Int) -> Bool? { true }
    mutating func finish() -> Bool { false }
  }

  private let lifetimes = Lifetimes()

  private func round(awaitedBy handler: HandlerContext? = nil) -> Round {
    let captured = lifetimes.make()
    return HandlerContext.binding.withValue(handler) {
      Round(asking: [], for: DelegateHub(), in: .vote) { _, _, _ in
        withExtendedLifetime(captured) { nil }
      }
    }
  }

  private func poll() -> Votes {
    let poll = Votes(Ballot(asking: 1, combiner: Keeper(kept: lifetimes.make())))
    #expect(poll.ballot.begin() == nil)
    return poll
  }

  private func decide(_ poll: Votes, in round: Round) {
    let hasBallot = round.takeBallot()
    #expect(hasBallot)
    let isDecided = poll.keep(poll.ballot.count(.response(true), from: 0))
    _ = poll.conclude(isDecided, by: nil, in: round)
  }

  private func isWaiting(_ round: Round) -> Bool {
    round.state.withLock { $0.poll.waiting != nil }
  }

  @Test("the question keeps neither its handler, nor what it has captured or needed to decide")
  func nothingKept() async {
    let worker = Worker(activity: Activity(), caller: nil)
    let handler = HandlerContext(worker: worker, call: worker.begin(), node: nil)
    let (round, poll) = (round(awaitedBy: handler), poll())
    #expect(lifetimes.alive == 2)
    #expect(round.caller.awaiting?.worker === worker)
    // There it goes on before the one who lets it go on does anything else.
    let waiting = Task(executorPreference: PromptExecutor()) { [lifetimes] in
      await round.waitForDecision()
      return (alive: lifetimes.alive, isAwaiting: round.caller.awaiting != nil)
    }
    while !isWaiting(round) { await Task.yield() }
    decide(poll, in: round)
    let seen = await waiting.value
    #expect(seen.alive == 0)
    #expect(!seen.isAwaiting)
  }

  @Test("it does so once at the deadline, be it before or after it waits, and then at the decision")
  func deadline() async {
    for isEarly in [false, true] {
      let (round, poll) = (round(), poll())
      let returned = Recorder<Bool>()
      if isEarly { round.noteDeadline() }
      let caller = Task {
        for _ in 0..<2 {
          await round.waitForDecision()
          returned.record(round.isDecided)
        }
      }
      if !isEarly {
        while !isWaiting(round) { await Task.yield() }
        round.noteDeadline()
      }
      _ = await returned.history(of: 1)
      while !isWaiting(round), returned.history.count < 2 { await Task.yield() }
      decide(poll, in: round)
      await caller.value
      #expect(returned.history == [false, true])
    }
  }
}

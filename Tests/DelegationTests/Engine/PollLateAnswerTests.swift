import Foundation
import Testing

@testable import Delegation

@Suite("Poll: answers that come too late", .inTurn)
struct PollLateAnswerTests {
  /// An answer that does something when it is released.
  private final class Answer: Sendable {
    let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void = {}) {
      self.onRelease = onRelease
    }

    deinit { onRelease() }
  }

  /// Is content with the first answer.
  private struct First: Combiner {
    mutating func receive(_ response: Answer, from position: Int) -> Bool? { true }
    mutating func finish() -> Bool { false }
  }

  @Test("those that are queued when another one decides are counted off as abandoned")
  func countedOff() {
    let cast = Cast(3)
    let round = Round(asking: cast.nodes, for: DelegateHub(), in: .ask) { _, _, _ in nil }
    let poll = Poll(Ballot<First, Never>(asking: 3, combiner: First()))
    #expect(poll.ballot.begin() == nil)
    // Another worker counts meanwhile.
    let hasBallot = round.takeBallot()
    #expect(hasBallot)
    while let claim = round.claim() {
      let isTaken = round.enqueue(ending: claim) {
        poll.keep(poll.ballot.count(.response(Answer()), from: claim.position))
      }
      #expect(!isTaken)
    }
    _ = poll.conclude(false, by: nil, in: round)
    #expect(cast.nodes.map(\.questions.answered) == [1, 0, 0])
    #expect(cast.nodes.map(\.questions.abandoned) == [0, 1, 1])
    #expect(cast.nodes.map(\.runningCalls) == [0, 0, 0])
  }

  @Test(
    "neither the caller nor the others wait until one is released, though its `deinit` blocks")
  func release() async {
    let round = Round(asking: [], for: DelegateHub(), in: .ask) { _, _, _ in nil }
    let poll = Poll(Ballot<First, Never>(asking: 2, combiner: First()))
    #expect(poll.ballot.begin() == nil)
    let waiting = Task {
      await round.waitForDecision()
      return Poll.takeDecision(of: poll).get()
    }
    while round.state.withLock({ $0.poll.waiting == nil }) { await Task.yield() }
    // Another worker counts meanwhile.
    let hasBallot = round.takeBallot()
    #expect(hasBallot)
    let blockade = Blockade()
    for (position, answer) in [Answer(), Answer { blockade.enter() }].enumerated() {
      let isTaken = round.enqueue {
        poll.keep(poll.ballot.count(.response(answer), from: position))
      }
      #expect(!isTaken)
    }
    let hasCounted = Gate()
    // On a thread of its own, for it is blocked.
    Thread {
      _ = poll.conclude(false, by: nil, in: round)
      hasCounted.arrive()
    }.start()
    #expect(await waiting.value)
    await blockade.entry()
    let isCancelled = round.isCancelled
    #expect(isCancelled)
    #expect(blockade.end(), "the caller waited for the release")
    await hasCounted.arrivals()
  }
}

import Testing

@testable import Delegation

@Suite("Ballot: the count of one question", .inTurn)
struct BallotTests {
  /// What comes in from a subscriber.
  enum Incident: CaseIterable {
    case response, absence, failure
  }

  @Test(
    "every order of answers, absences and failures, decided at every call, is counted as it should",
    arguments: 0...4)
  func everyCount(asking count: Int) {
    var counts = 0
    for order in permutations(of: Array(0..<count)) {
      for incidents in words(of: Incident.allCases, length: count) {
        // The call of the combiner that decides: 0 is `begin`; beyond the last one, none does.
        for decisive in 0...(count + 1) {
          let events = zip(order, incidents).map { (position: $0, incident: $1) }
          let expected = model(events, decisive: decisive)
          let actual = run(events, decisive: decisive)
          #expect(actual == expected, "\(events), decided at \(decisive)")
          counts += 1
        }
      }
    }
    #expect(counts >= count + 2)
  }

  @Test("at the deadline those who have not answered are counted, in order, until that decides")
  func deadline() {
    for answered in words(of: [false, true], length: 3) {
      for decisive in 1...5 {
        let recorder = Recorder<String>()
        let combiner = Scripted(recorder: recorder, decisive: decisive)
        var ballot = Ballot<Scripted, Mishap>(asking: 3, combiner: combiner, hasDeadline: true)
        var decision = ballot.begin()
        var expected = ["begin 3"]
        for position in [2, 0, 1] where answered[position] {
          expected.append("receive yes from \(position)")
          if decision == nil { decision = ballot.count(.response("yes"), from: position) }
        }
        for position in 0..<3 where !answered[position] { expected.append("miss \(position)") }
        // Who has answered last may have decided, or completed, the count.
        guard decision == nil else { continue }
        #expect(!ballot.isComplete)
        decision = ballot.expire { _ in .absence }
        let isDecided = decisive < expected.count
        expected = isDecided ? Array(expected[...decisive]) : expected + ["finish"]
        #expect(recorder.history == expected)
        #expect(decision == .success(isDecided ? "decided at \(decisive)" : "finished"))
        #expect(!ballot.isComplete, "whoever is late still runs")
      }
    }
  }

  @Test("after the decision it keeps nothing of what was needed to decide")
  func cleared() {
    let combiner = Scripted(recorder: Recorder(), decisive: 1)
    var ballot = Ballot<Scripted, Mishap>(asking: 3, combiner: combiner, hasDeadline: true)
    #expect(ballot.begin() == nil)
    #expect(ballot.count(.response("yes"), from: 0) == .success("decided at 1"))
    ballot.clear()
    #expect(ballot.combiner == nil && ballot.isOutstanding == nil)
    #expect(!ballot.isComplete, "two handlers still run")
  }

  @Test("nobody to ask: the combiner begins, and finishes if it has not decided")
  func nobody() {
    #expect(run([], decisive: 9) == Course(calls: ["begin 0", "finish"], outcome: "finished"))
    #expect(run([], decisive: 0) == Course(calls: ["begin 0"], outcome: "decided at 0"))
  }

  @Test("a combiner that implements the two necessary methods only goes on until the end")
  func defaults() {
    var ballot = Ballot<Plain, Never>(asking: 2, combiner: Plain())
    #expect(ballot.begin() == nil)
    #expect(ballot.count(.absence, from: 1) == nil)
    #expect(ballot.count(.response(3), from: 0) == .success(3))
  }

  @Test("ballots are copies: what one counts does not show in another")
  func copies() {
    var first = Ballot<Plain, Never>(asking: 2, combiner: Plain())
    _ = first.begin()
    _ = first.count(.response(1), from: 0)
    var second = first
    #expect(first.count(.response(10), from: 1) == .success(11))
    #expect(second.count(.response(100), from: 1) == .success(101))
  }

  // MARK: Running and modelling

  /// The combiner's calls, and what came out.
  struct Course: Equatable {
    var calls: [String] = []
    var outcome: String?
  }

  private func run(_ events: [(position: Int, incident: Incident)], decisive: Int) -> Course {
    let recorder = Recorder<String>()
    var ballot = Ballot<Scripted, Mishap>(
      asking: events.count, combiner: Scripted(recorder: recorder, decisive: decisive))
    var decision = ballot.begin()
    for (position, incident) in events where decision == nil {
      switch incident {
      case .response: decision = ballot.count(.response("yes \(position)"), from: position)
      case .absence: decision = ballot.count(.absence, from: position)
      case .failure: decision = ballot.count(.failure(Mishap(at: position)), from: position)
      }
    }
    switch decision {
    case .success(let outcome): return Course(calls: recorder.history, outcome: outcome)
    case .failure(let mishap):
      return Course(calls: recorder.history, outcome: "failed at \(mishap.position)")
    case nil: return Course(calls: recorder.history)
    }
  }

  private func model(_ events: [(position: Int, incident: Incident)], decisive: Int) -> Course {
    var course = Course(calls: ["begin \(events.count)"])
    if decisive == 0 {
      course.outcome = "decided at 0"
      return course
    }
    for (position, incident) in events {
      switch incident {
      case .response: course.calls.append("receive yes \(position) from \(position)")
      case .absence: course.calls.append("miss \(position)")
      case .failure:
        course.outcome = "failed at \(position)"
        return course
      }
      if course.calls.count == decisive + 1 {
        course.outcome = "decided at \(decisive)"
        return course
      }
    }
    course.calls.append("finish")
    course.outcome = "finished"
    return course
  }

  private func permutations(of items: [Int]) -> [[Int]] {
    if items.isEmpty { return [[]] }
    return items.flatMap { first in
      permutations(of: items.filter { $0 != first }).map { [first] + $0 }
    }
  }
}

private struct Mishap: Error, Equatable {
  let position: Int

  init(at position: Int) {
    self.position = position
  }
}

/// Adds up, with the default `begin` and `miss`.
private struct Plain: Combiner {
  private var sum = 0

  mutating func receive(_ response: Int, from position: Int) -> Int? {
    sum += response
    return nil
  }

  mutating func finish() -> Int { sum }
}

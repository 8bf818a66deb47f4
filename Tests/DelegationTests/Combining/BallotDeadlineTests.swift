import Testing

@testable import Delegation

@Suite("Ballot: the count at a deadline", .inTurn(.heavy))
struct BallotDeadlineTests {
  enum Answer: CaseIterable {
    case response, absence
  }

  @Test(
    "whoever has answered by then, in any order, and whatever the late count as",
    arguments: 0...4)
  func everyCount(asking count: Int) {
    var counts = 0
    for order in permutations(of: Array(0..<count)) {
      for answered in 0...count {
        for answers in words(of: Answer.allCases, length: answered) {
          for late in Late.allCases {
            for decisive in 1...(count + 2) {
              let events = zip(order, answers).map { ($0, $1) }
              let actual = run(events, of: count, late: late, decisive: decisive)
              let expected = model(events, of: count, late: late, decisive: decisive)
              #expect(actual == expected, "\(events) of \(count), \(late), at \(decisive)")
              counts += 1
            }
          }
        }
      }
    }
    #expect(counts >= 3 * (count + 2))
  }

  @Test("at the deadline all who are late are gone through, though the first decides")
  func allWhoAreLate() {
    let combiner = Scripted(recorder: Recorder(), decisive: 2)
    var ballot = Ballot<Scripted, Never>(asking: 5, combiner: combiner, hasDeadline: true)
    #expect(ballot.begin() == nil)
    #expect(ballot.count(.response("yes"), from: 3) == nil)
    var late: [Int] = []
    let decision = ballot.expire { position in
      late.append(position)
      return .substitute("no")
    }
    #expect(decision == .success("decided at 2"))
    #expect(late == [0, 1, 2, 4])
  }

  /// What those who have not answered count as.
  enum Late: CaseIterable {
    case response, substitute, absence, failure

    /// What the combiner is told of one of them.
    func call(_ position: Int) -> String {
      switch self {
      case .response, .substitute: "receive late from \(position)"
      case .absence, .failure: "miss \(position)"
      }
    }
  }

  struct Lateness: Error, Equatable {
    let position: Int
  }

  struct Course: Equatable {
    var calls: [String] = []
    var outcome: String?
    var isComplete = false
  }

  private func run(
    _ events: [(position: Int, answer: Answer)], of count: Int, late: Late, decisive: Int
  ) -> Course {
    let recorder = Recorder<String>()
    let combiner = Scripted(recorder: recorder, decisive: decisive)
    var ballot = Ballot<Scripted, Lateness>(asking: count, combiner: combiner, hasDeadline: true)
    var decision = ballot.begin()
    for (position, answer) in events where decision == nil {
      decision = ballot.count(answer == .response ? .response("yes") : .absence, from: position)
    }
    // A count that is decided is over.
    if decision == nil {
      decision = ballot.expire { position in
        switch late {
        case .response: .response("late")
        case .substitute: .substitute("late")
        case .absence: .absence
        case .failure: .failure(Lateness(position: position))
        }
      }
    }
    switch decision {
    case .success(let outcome):
      return Course(calls: recorder.history, outcome: outcome, isComplete: ballot.isComplete)
    case .failure(let error):
      let outcome = "late at \(error.position)"
      return Course(calls: recorder.history, outcome: outcome, isComplete: ballot.isComplete)
    case nil:
      return Course(calls: recorder.history)
    }
  }

  private func model(
    _ events: [(position: Int, answer: Answer)], of count: Int, late: Late, decisive: Int
  ) -> Course {
    var course = Course(calls: ["begin \(count)"])
    func finished(_ outcome: String, outstanding: Int) -> Course {
      Course(calls: course.calls, outcome: outcome, isComplete: outstanding == 0)
    }
    func hears(_ call: String) -> Bool {
      course.calls.append(call)
      return course.calls.count == decisive + 1
    }
    for (heard, event) in events.enumerated() {
      let call = event.answer == .response ? "receive yes from" : "miss"
      if hears("\(call) \(event.position)") {
        return finished("decided at \(decisive)", outstanding: count - heard - 1)
      }
    }
    let outstanding = count - events.count
    for position in 0..<count where !events.contains(where: { $0.position == position }) {
      if late == .failure { return finished("late at \(position)", outstanding: outstanding) }
      if hears(late.call(position)) {
        return finished("decided at \(decisive)", outstanding: outstanding)
      }
    }
    course.calls.append("finish")
    return finished("finished", outstanding: outstanding)
  }

  private func permutations(of items: [Int]) -> [[Int]] {
    if items.isEmpty { return [[]] }
    return items.flatMap { first in
      permutations(of: items.filter { $0 != first }).map { [first] + $0 }
    }
  }
}

import Testing

@testable import Delegation

@Suite("Tests begin in turn, and what they say after their limit is not the library's", .inTurn)
struct InTurnTests {
  /// What a test records that has a limit.
  private func issues(
    within limit: Duration, _ body: @escaping @Sendable () async throws -> Void
  ) async throws -> [Issue] {
    let test = try #require(Test.current)
    let issues = Recorder<Issue>()
    let catching = IssueHandlingTrait.compactMapIssues { issue in
      issues.record(issue)
      return nil
    }
    try await catching.provideScope(for: test, testCase: Test.Case.current) {
      try await InTurn.limited(to: limit, test, Test.Case.current, body)
    }
    return issues.history
  }

  @Test("what a test finds wrong in time is an error, and what it throws is thrown")
  func inTime() async throws {
    let issues = try await issues(within: .seconds(InTurn.patience)) { Issue.record("found") }
    #expect(issues.map(\.severity) == [.error])
    #expect(issues.map(\.comments) == [["found"]])
    await #expect(throws: Refusal.self) {
      _ = try await self.issues(within: .seconds(InTurn.patience)) { throw Refusal() }
    }
  }

  @Test("a test that hangs fails, and what comes of its cancellation is a warning that says so")
  func tooLate() async throws {
    let hub = DelegateHub()
    let (probe, gate) = (Probe(), Gate())
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    let issues = try await issues(within: .zero) {
      #expect(await hub.drain().isEmpty)
      try Task.checkCancellation()
    }
    #expect(issues.map(\.severity) == [.error, .warning])
    let (first, second) = (try #require(issues.first), try #require(issues.last))
    #expect("\(first.comments)".contains("the test has not ended within 0.0 seconds"))
    #expect("\(second.comments)".contains("said after the time limit"))
    gate.open()
    await hub.drain()
    withExtendedLifetime(probe) {}
  }

  @Test("a test that hangs in spite of its cancellation stops the program, which names it")
  func endless() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let gate = Gate()
      await InTurn.watched(for: .zero, "a test") { await gate.pass() }
    }
    #expect(said(result, "a test hangs, even though it was cancelled"))
  }

  @Test("nobody takes a place that is not free, and whoever needs many is not passed over")
  func places() {
    let executor = ManualExecutor()
    let places = Places(4)
    let gates = (0..<4).map { _ in Gate() }
    let began = Recorder<Int>()
    // The last one asks for more places than there are, and has them all.
    for (number, wanted) in [3, 2, 1, 9].enumerated() {
      Task(executorPreference: executor) {
        await places.take(wanted) {
          began.record(number)
          await gates[number].pass()
        }
      }
    }
    executor.run()
    #expect(began.history == [0])
    for (number, expected) in [[0, 1, 2], [0, 1, 2], [0, 1, 2, 3]].enumerated() {
      gates[number].open()
      executor.run()
      #expect(began.history == expected)
    }
    gates[3].open()
    executor.run()
  }
}

import Testing

/// What each suite has here: explorations keep a thread busy, so one test runs at a time, and its time is its own.
struct InTurn: SuiteTrait, TestScoping {
  private static let turns = {
    let turns = AsyncStream.makeStream(of: Void.self)
    turns.continuation.yield()
    return turns
  }()

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { test.isSuite ? self : nil }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    for await _ in Self.turns.stream { break }
    defer { Self.turns.continuation.yield() }
    try await ParallelizationTrait.serialized.provideScope(
      for: test, testCase: nil, performing: function)
  }
}

extension Trait where Self == InTurn {
  static var inTurn: Self { InTurn() }
}

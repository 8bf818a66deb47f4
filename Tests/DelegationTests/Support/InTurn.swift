import Foundation
import Testing

/// What every suite has that takes more than a moment: its tests run one after another, beside those of a few other
/// suites, and one that hangs stops the program and is named.
///
/// If hundreds of tests begin at once, each takes as long as all of them together, and no limit says anything about a
/// test any more. The suite waits for its place, and not its tests: what a test waits in a scope of its own counts as its
/// time. A suite is heavy if one of its tests keeps a core busy for half a second.
struct InTurn: SuiteTrait, TestTrait, TestScoping {
  enum Weight: Int, Sendable {
    case light = 1
    case heavy = 2
  }

  let weight: Weight

  /// Two heavy suites at a time on two cores, or four light ones.
  private static let places = Places(2 * max(2, ProcessInfo.processInfo.activeProcessorCount))

  /// Whether a suite has a place: those within it need none.
  @TaskLocal private static var hasPlace = false

  /// What a test may take that has its usual number of rounds, and more if it has more: far more than any test takes.
  private static let limit = Duration.seconds(600) * max(1, Effort.factor)

  /// How many seconds a test waits for what is bound to happen, where waiting for ever would block a thread: nobody
  /// waits that long unless the guarantee is broken.
  static let patience = 120

  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
    test.isSuite || testCase != nil ? self : nil
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard test.isSuite else {
      let name = "\(test.name) at \(test.sourceLocation)"
      let watchdog = Task.detached {
        try await Task.sleep(for: Self.limit)
        fatalError("\(name) has not ended within \(Self.limit)")
      }
      defer { watchdog.cancel() }
      return try await function()
    }
    if Self.hasPlace { return try await function() }
    try await Self.places.take(weight.rawValue) {
      try await Self.$hasPlace.withValue(true) {
        try await ParallelizationTrait.serialized.provideScope(
          for: test, testCase: nil, performing: function)
      }
    }
  }
}

extension Trait where Self == InTurn {
  static var inTurn: Self { InTurn(weight: .light) }

  static func inTurn(_ weight: InTurn.Weight) -> Self { InTurn(weight: weight) }
}

/// A number of places, of which suites take some each, in the order in which they come.
private struct Places: Sendable {
  private let free = AsyncStream.makeStream(of: Void.self)
  /// Had by the one that takes places: two that have one each, and wait for a second one, would wait for ever.
  private let turn = AsyncStream.makeStream(of: Void.self)

  init(_ count: Int) {
    turn.continuation.yield()
    release(count)
  }

  private func release(_ count: Int) { for _ in 0..<count { free.continuation.yield() } }

  func take(_ wanted: Int, _ body: () async throws -> Void) async rethrows {
    for await _ in turn.stream { break }
    for _ in 0..<wanted { for await _ in free.stream { break } }
    turn.continuation.yield()
    defer { release(wanted) }
    try await body()
  }
}

import Foundation
import Testing

@testable import Delegation

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
private final class Places: Sendable {
  private struct State: Sendable {
    /// How many are free; fewer than the first of those who wait needs.
    var free: Int
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// Seats those who come next, as many as there are places for.
    mutating func seat() -> [CheckedContinuation<Void, Never>] {
      var seated: [CheckedContinuation<Void, Never>] = []
      while let first = waiting.first, first.count <= free {
        free -= first.count
        seated.append(first.continuation)
        waiting.removeFirst()
      }
      return seated
    }
  }

  private let state: Lock<State>

  init(_ count: Int) { state = Lock(State(free: count)) }

  func take(_ wanted: Int, _ body: () async throws -> Void) async rethrows {
    await withCheckedContinuation { continuation in
      update { $0.waiting.append((wanted, continuation)) }
    }
    defer { update { $0.free += wanted } }
    try await body()
  }

  private func update(_ change: (inout State) -> Void) {
    let seated = state.withLock { state in
      change(&state)
      return state.seat()
    }
    for continuation in seated { continuation.resume() }
  }
}

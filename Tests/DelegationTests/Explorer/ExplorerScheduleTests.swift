import Testing

@testable import Delegation

/// What two tasks do that share a variable; only the explorer's thread touches it.
private final class Shared: @unchecked Sendable {
  var value = 0
  var isFound = false
}

@Suite("Explorer: how schedules are chosen", .inTurn)
struct ExplorerScheduleTests {
  /// How many schedules it takes until something is found, up to a limit.
  private func search(
    _ kind: Strategy.Kind, limit: UInt64, _ start: (Explorer, Shared) -> Void
  ) -> Int? {
    for seed in 1...limit {
      let explorer = Explorer(Strategy(kind, seed: seed))
      let shared = Shared()
      start(explorer, shared)
      while let entry = explorer.next() { explorer.run(entry) }
      if shared.isFound { return Int(seed) }
    }
    return nil
  }

  @Test("a lost update is found", arguments: Strategy.Kind.allCases)
  func lostUpdate(kind: Strategy.Kind) {
    let schedules = search(kind, limit: 100) { explorer, shared in
      for _ in 0..<2 {
        Task(executorPreference: explorer) {
          let value = shared.value
          await Task.yield()
          shared.value = value + 1
          await Task.yield()
          await Task.yield()
          if shared.value == 1 { shared.isFound = true }
        }
      }
    }
    #expect(schedules != nil)
  }

  @Test("priorities find what takes one task to run far ahead of another, a random walk does not")
  func farAhead() {
    func start(_ explorer: Explorer, _ shared: Shared) {
      Task(executorPreference: explorer) {
        shared.value = 1
        await Task.yield()
        shared.value = 2
      }
      Task(executorPreference: explorer) {
        guard shared.value == 1 else { return }
        for _ in 0..<40 { await Task.yield() }
        if shared.value == 1 { shared.isFound = true }
      }
    }
    #expect(search(.randomWalk, limit: 2000, start) == nil)
    #expect(search(.priorities, limit: 2000, start) != nil)
  }
}

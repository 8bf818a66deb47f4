import Delegation
import DelegationAdapters
import MetricsTestKit
import Synchronization
import Testing

@Suite("A meter of handlers that run", .timeLimit(.minutes(10)))
struct RunningTests {
  private protocol Rule: AnyObject, Sendable {
    func mayPass() async -> Bool
  }

  /// Does not answer before it is let, not even when it is cancelled.
  private final class Stuck: Rule {
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]>([])

    func mayPass() async -> Bool {
      await withCheckedContinuation { continuation in
        waiting.withLock { $0.append(continuation) }
      }
      return true
    }

    func answer() {
      let all = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for continuation in all { continuation.resume() }
    }
  }

  @Test("those that hang count until they end, after nobody asks or is subscribed any more, too")
  func running() async throws {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let stuck = Stuck()
    hub.subscribe(stuck, to: (any Rule).self)
    let factory = TestMetrics()
    let metrics = HubMetrics(hub, named: "test", factory: factory)
    func meters(_ label: String) async -> [Double?] {
      await metrics.report()
      return factory.meters(label: "test_\(label)").map(\.lastValue)
    }
    var begun = 0.0
    // One that is late before it has begun never begins.
    while begun == 0 {
      let mayPass = await hub.vote(
        (any Rule).self, within: .milliseconds(1), absent: .counts(as: false)
      ) { await $0.mayPass() }
      #expect(!mayPass)
      begun = try #require(await meters("handlers_running").first ?? nil)
    }
    hub.unsubscribe(stuck)
    #expect(await meters("questions_answering") == [0])
    #expect(await meters("subscribers") == [0])
    #expect(await meters("handlers_running") == [begun])
    while await meters("handlers_running") != [0] {
      stuck.answer()
      await Task.yield()
    }
  }
}

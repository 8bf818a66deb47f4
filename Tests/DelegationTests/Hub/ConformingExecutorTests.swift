import Testing

@testable import Delegation

private protocol Progress: AnyObject, Sendable {
  var name: String { get }
}

private final class Both: Listener, Progress {
  let name = "both"
  let log = Recorder<Int>()
}

/// With one subscriber that does not conform, and whose executor does not run, and one that does.
@Suite("conforming(to:): questions, and executors that do not run", .inTurn)
struct ConformingExecutorTests {
  private let incidents = Recorder<String>()
  private let stage: Stage
  private let stuck = ManualExecutor()
  private let plain = Probe("plain")
  private let both = Both()
  private let progress: Delegates<any Progress>

  init() {
    stage = Stage { [incidents] in $0.onIncident = { incidents.record($0.description) } }
    progress = stage.hub[Listener.self].conforming(to: Progress.self)
  }

  private func subscribe(plainFirst: Bool) {
    stage.hub.subscribe(plain, to: Listener.self, priority: plainFirst ? 1 : -1, on: stuck)
    stage.hub.subscribe(both, to: Listener.self)
  }

  /// Asks a question, whose deadline then comes if it has one.
  private func ask<Result: Sendable>(
    _ question: @escaping @Sendable (Delegates<any Progress>) async -> Result
  ) -> Result? {
    let call = stage.start { [progress] _ in await question(progress) }
    stage.advance(by: .seconds(1))
    return call.result
  }

  @Test(
    "one that does not conform is not sent to its executor, is absent, and is not late",
    arguments: [nil, Duration.seconds(1)], [true, false])
  func inTime(duration: Duration?, plainFirst: Bool) {
    subscribe(plainFirst: plainFirst)
    let replies = ask { progress in
      await progress.collect(within: duration) { $0.name }.map { try? $0.result.get() }
    }
    #expect(replies == ["both"])
    let names = ask { progress in
      await progress.ask(combining: .all(), within: duration, absent: .counts(as: "late")) {
        $0.name
      }
    }
    #expect(names == ["both"])
    let votes = ask { progress in
      [
        await progress.vote(within: duration, absent: .counts(as: false)) { _ in true },
        await progress.vote(by: .atLeast(2), within: duration, absent: .counts(as: true)) { _ in
          true
        },
      ]
    }
    #expect(votes == [true, false])
    let first = ask { progress in
      await progress.askInTurn(within: duration, absent: .counts(as: "late")) { $0.name }
    }
    #expect(first == "both")
    let passed = ask { progress in
      await progress.pass("v", within: duration, absent: .counts(as: "late")) { "\($1) \($0.name)" }
    }
    #expect(passed == "v both")
    expectNothingSent()
  }

  @Test("so it is in the calls that throw", arguments: [true, false])
  func throwing(plainFirst: Bool) {
    subscribe(plainFirst: plainFirst)
    #expect(ask { await $0.vote { _ in true } } == true)
    #expect(ask { await $0.vote(by: .atLeast(2)) { _ in true } } == false)
    #expect(ask { await $0.ask(combining: .all()) { $0.name } } == ["both"])
    #expect(ask { await $0.askInTurn { $0.name } } == "both")
    #expect(ask { await $0.pass("v") { "\($1) \($0.name)" } } == "v both")
    expectNothingSent()
  }

  private func expectNothingSent() {
    #expect(stuck.pending == 0)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(incidents.history == [])
    stuck.run()
    withExtendedLifetime((plain, both)) {}
  }
}

import Delegation
import Testing

@Suite("Statistics: questions", .inTurn)
struct QuestionCountTests {
  private let stage = Stage { $0.onIncident = { _ in } }
  private var statistics: DelegateHub.Statistics { stage.hub.statistics() }
  private var questions: String { statistics.questions.description }

  private func each() -> [String] {
    statistics.protocols.flatMap(\.subscribers).map(\.questions.description)
  }

  @Test("those whose caller was cancelled before they answered are abandoned", arguments: [1, 3])
  func cancelled(count: Int) {
    let gate = Gate()
    stage.cast(count)
    let calls: [@Sendable (Delegates<any Listener>) async -> Bool] = [
      {
        await $0.vote { _ in
          await gate.pass()
          return true
        }
      },
      {
        await $0.vote(absent: .abstains) { _ in
          await gate.pass()
          throw Refusal()
        }
      },
      {
        await $0.askInTurn { _ in
          await gate.pass()
          return true
        } ?? false
      },
    ]
    let acts = calls.map { call in stage.start { await call($0[Listener.self]) } }
    let all = 2 * count + 1
    for act in acts { act.cancel() }
    #expect(questions == asked(answering: all))
    stage.open(gate)
    #expect(acts.map(\.result) == [true, true, true] && questions == asked(abandoned: all))
  }

  @Test("errors are counted once, wherever they go; what ends late is late, and nothing else")
  func failures() {
    let gate = Gate()
    let probes = Probe.many(3)
    let subscriptions = probes.map { stage.hub.subscribe($0, to: Listener.self) }
    func ask() {
      let call = stage.start { hub in
        await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { probe in
          if probe.name == "1" { throw Refusal() }
          if probe.name == "2" {
            await gate.pass()
            throw Refusal()
          }
          return true
        }
      }
      stage.advance(by: .seconds(1))
      #expect(call.result == true)
    }
    for _ in 0..<2 { ask() }
    let running = [asked(answered: 2), asked(failed: 2), asked(answering: 2)]
    #expect(each() == running)
    ask()
    for subscription in subscriptions { subscription.cancel() }
    #expect(subscriptions.map(\.statistics.running) == [0, 0, 3])
    stage.open(gate)
    #expect(
      subscriptions.map(\.statistics.questions.description)
        == [asked(answered: 3), asked(failed: 3), asked(late: 3)])
    #expect(questions == asked(answered: 3, failed: 3, late: 3))
  }

  private protocol Unheard: Sendable {}

  @Test("those that are gone, do not conform, or whose executor stands still are not asked")
  func absent() {
    let (own, stuck, gone) = (ManualExecutor(), Probe("stuck"), Probe("gone"))
    stage.cast(3)
    let subscription = stage.hub.subscribe(gone, to: Listener.self)
    stage.hub.subscribe(Probe("mortal"), to: Listener.self)
    let delegates = stage.hub[Listener.self].conforming(to: Unheard.self)
    let outcomes = stage.perform { hub in
      [
        await delegates.vote { _ in false },
        await delegates.vote { _ in await Task { false }.value },
        await delegates.vote(within: .seconds(1), absent: .abstains) { _ in false },
        await delegates.collect { _ in 1 }.isEmpty,
        await delegates.askInTurn { _ in 1 } == nil,
        await hub[Listener.self].vote { probe in
          subscription.cancel()
          return probe.name != "gone" && probe.name != "mortal"
        },
      ]
    }
    #expect(outcomes == [true, true, true, true, true, true] && questions == asked(answered: 3))
    let isAsked = Recorder<Bool>()
    stage.hub.subscribe(stuck, to: Bystander.self, on: own)
    for _ in 0..<2 {
      let vote = stage.start { hub in
        await hub[Bystander.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in
          isAsked.record(true)
          return true
        }
      }
      stage.advance(by: .seconds(1))
      #expect(vote.result == false)
    }
    own.run()
    stage.run()
    #expect(isAsked.history.isEmpty && questions == asked(answered: 3))
    withExtendedLifetime((gone, stuck)) {}
  }
}

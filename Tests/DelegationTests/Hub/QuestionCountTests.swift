import Testing

@testable import Delegation

@Suite("Guarantee 16: questions are counted, too", .inTurn)
struct QuestionCountTests {
  typealias Questions = DelegateHub.Statistics.Questions

  private let stage = Stage { $0.onIncident = { _ in } }

  private var questions: Questions? { stage.perform { await $0.questions() } }

  private func each(_ probes: [Probe]) -> [Questions]? {
    stage.statistics?.protocols.first?.subscribers.map(\.questions)
  }

  @Test("every kind of question counts its answers, whether it awaits or not", arguments: [1, 3])
  func answered(count: Int) async {
    for hub in [DelegateHub(), DelegateHub(on: ThreadPool(threads: 1))] {
      let probes = Probe.many(count)
      let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
      _ = await hub[Listener.self].vote() { _ in true }
      _ = await hub[Listener.self].vote() { await Self.isThere($0) }
      _ = await hub[Listener.self].vote({ @MainActor _ in true })
      _ = await hub[Listener.self].ask(combining: .all()) { $0.name }
      _ = await hub[Listener.self].ask(combining: .all()) { await Self.isThere($0) }
      _ = await hub[Listener.self].vote(within: .seconds(60), absent: .abstains) { _ in true }
      _ = await hub[Listener.self].collect() { $0.name }
      _ = await hub[Listener.self].collect(within: .seconds(60)) { $0.name }
      _ = await hub[Listener.self].askInTurn() { _ -> Int? in nil }
      _ = await hub[Listener.self].pass(0) { $1 + $0.name.count }
      _ = await hub[Listener.self].pass(0, eachWithin: .seconds(60), absent: .abstains) {
        $1 + $0.name.count
      }
      for subscription in subscriptions {
        #expect(subscription.statistics.questions == .init(answered: 11))
      }
      #expect(await hub.questions() == .init(answered: 11 * count))
      // Those of former subscribers stay with the protocol.
      for subscription in subscriptions { subscription.cancel() }
      #expect(await hub.questions() == .init(answered: 11 * count))
      #expect(subscriptions.first?.statistics.questions == .init(answered: 11))
      withExtendedLifetime(probes) {}
    }
  }

  @Test(
    "those that were under way when the outcome was fixed are abandoned, and the rest not asked")
  func early() {
    let (suspended, probes) = (Gate(), stage.cast(4))
    let vote = stage.start { hub in
      await hub[Listener.self].vote() { probe in
        if probe.name < "2" { await suspended.pass() }
        return probe.name < "2"
      }
    }
    #expect(vote.result == false)
    #expect(
      each(probes) == [.init(answering: 1), .init(answering: 1), .init(answered: 1), .init()])
    stage.open(suspended)
    #expect(
      each(probes) == [.init(abandoned: 1), .init(abandoned: 1), .init(answered: 1), .init()])
    #expect(stage.perform { await $0[Listener.self].vote() { $0.name < "1" } } == false)
    #expect(questions == .init(answered: 3, abandoned: 2))
  }

  @Test("those whose caller was cancelled before they answered are abandoned", arguments: [1, 3])
  func cancelled(count: Int) {
    let (gate, probes) = (Gate(), stage.cast(count))
    let calls = [
      stage.start { hub in
        await hub[Listener.self].vote() { _ in
          await gate.pass()
          return true
        }
      },
      stage.start { hub in
        (try? await hub[Listener.self].vote() { _ in
          await gate.pass()
          throw Refusal()
        }) ?? true
      },
      stage.start { hub in
        await hub[Listener.self].vote(absent: .abstains) { _ in
          await gate.pass()
          throw Refusal()
        }
      },
      stage.start { hub in
        await hub[Listener.self].askInTurn() { _ in
          await gate.pass()
          return true
        } ?? false
      },
    ]
    let asked = 3 * count + 1
    #expect(questions == .init(answering: asked))
    for call in calls { call.cancel() }
    #expect(questions == .init(answering: asked))
    stage.open(gate)
    #expect(calls.map(\.result) == [true, true, true, true])
    #expect(questions == .init(abandoned: asked))
    withExtendedLifetime(probes) {}
  }

  @Test("errors are counted wherever they go, and once")
  func failures() {
    let probes = stage.cast(2)
    let check: @Sendable (any Listener) throws -> Bool = { probe in
      if probe.name == "0" { throw Refusal() }
      return true
    }
    stage.perform { hub in
      _ = try? await hub[Listener.self].vote() { try check($0) }
      _ = await hub[Listener.self].vote(absent: .abstains) { try check($0) }
      _ = await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { try check($0) }
      _ = await hub[Listener.self].collect() { try check($0) }
      _ = try? await hub[Listener.self].askInTurn() { try check($0) ? 1 : nil }
      _ = await hub[Listener.self].askInTurn(absent: .abstains) { try check($0) ? 1 : nil }
    }
    #expect(each(probes) == [.init(failed: 6), .init(answered: 4)])
    #expect(questions == .init(answered: 4, failed: 6))
  }

  @Test("a late one is late from the deadline on, and stays so, though it returns or throws")
  func late() {
    let (gate, probes) = (Gate(), stage.cast(2))
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { probe in
        if probe.name == "0" {
          await gate.pass()
          throw Refusal()
        }
        return true
      }
    }
    #expect(each(probes) == [.init(answering: 1), .init(answered: 1)])
    stage.advance(by: .seconds(1))
    #expect(vote.result == true)
    #expect(each(probes) == [.init(late: 1), .init(answered: 1)])
    stage.open(gate)
    #expect(each(probes) == [.init(late: 1), .init(answered: 1)])
    #expect(questions == .init(answered: 1, late: 1))
  }

  @Test("one whose executor stands still is late, and is not asked any more when that runs again")
  func standstill() {
    let (own, probe) = (ManualExecutor(), Probe())
    stage.hub.subscribe(probe, to: Listener.self, on: own)
    let isAsked = Recorder<Bool>()
    for _ in 0..<2 {
      let vote = stage.start { hub in
        await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in
          isAsked.record(true)
          return true
        }
      }
      #expect(questions?.answering == 0)
      stage.advance(by: .seconds(1))
      #expect(vote.result == false)
    }
    #expect(questions == .init(late: 2))
    own.run()
    stage.run()
    #expect(isAsked.history.isEmpty)
    #expect(questions == .init(late: 2))
    let vote = stage.start { await $0[Listener.self].vote() { _ in true } }
    #expect(questions == .init(late: 2))
    own.run()
    stage.run()
    #expect(vote.result == true)
    #expect(questions == .init(answered: 1, late: 2))
  }

  @Test("those that are gone or do not conform are not asked")
  func absent() {
    let (probes, nobody) = (stage.cast(3), Probe("gone"))
    let subscription = stage.hub.subscribe(nobody, to: Listener.self)
    var mortal: Probe? = Probe("mortal")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    mortal = nil
    let delegates = Delegates<any Listener>(of: stage.hub).conforming(to: Unheard.self)
    let outcomes = stage.perform { hub in
      [
        await delegates.vote { _ in false },
        await delegates.vote { _ in await Task { false }.value },
        await delegates.vote(within: .seconds(1), absent: .abstains) { _ in false },
        await delegates.collect { _ in 1 }.isEmpty,
        await delegates.askInTurn { _ in 1 } == nil,
        await hub[Listener.self].vote() { probe in
          subscription.cancel()
          return probe.name != "gone" && probe.name != "mortal"
        },
      ]
    }
    #expect(outcomes == [true, true, true, true, true, true])
    #expect(questions == .init(answered: 3))
    withExtendedLifetime((probes, nobody)) {}
  }

  @Test("a loop within a handler counts its own voters, and says nothing of the handler's call")
  func nested() async {
    let hub = DelegateHub()
    let (outer, inner) = (Probe("outer"), Probe("inner"))
    hub.subscribe(outer, to: Listener.self)
    hub.subscribe(inner, to: Bystander.self)
    let isAllowed = await hub[Listener.self].vote() { _ in
      await Task.yield()
      _ = try? await hub[Bystander.self].vote() { _ in throw Refusal() }
      _ = await Delegates<any Bystander>(of: hub).conforming(to: Unheard.self).vote { _ in false }
      return true
    }
    #expect(isAllowed)
    let questions = await hub.statistics().protocols.map(\.questions)
    #expect(questions == [.init(failed: 1), .init(answered: 1)])
    withExtendedLifetime((outer, inner)) {}
  }

  @Test("what fails on the main actor is counted as well, alone and with an executor")
  func mainActor() async {
    let (hub, probe) = (DelegateHub(), Probe())
    hub.subscribe(probe, to: Listener.self)
    for executor in [nil, ThreadPool(threads: 1)] {
      hub.subscribe(probe, to: Listener.self, on: executor)
      _ = try? await hub[Listener.self].vote({ @MainActor _ in throw Refusal() })
    }
    #expect(await hub.questions() == .init(failed: 2))
  }

  private static func isThere(_ probe: any Listener) async -> Bool { true }

  private protocol Unheard: Sendable {}
}

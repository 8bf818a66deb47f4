import Testing

@testable import Delegation

@Suite("Storm: questions are counted, whatever becomes of them", .inTurn(.heavy))
struct QuestionCountStormTests {
  /// What a handler does.
  private enum Deed: CaseIterable {
    case answers, yields, refuses, refusesLater, waits, waitsAndRefuses

    /// Those that come to an end by themselves.
    static var quick: ArraySlice<Deed> { allCases.prefix(4) }

    func callAsFunction() async throws {
      switch self {
      case .answers: break
      case .yields: await Task.yield()
      case .refuses: throw Refusal()
      case .refusesLater:
        await Task.yield()
        throw Refusal()
      case .waits: try? await Task.sleep(for: .seconds(600))
      case .waitsAndRefuses: try await Task.sleep(for: .seconds(600))
      }
    }
  }

  /// Counts what it receives, and ends with the first "true".
  private struct Counting: Combiner {
    let received: Count
    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      received.add(1)
      return response ? true : nil
    }
    mutating func finish() -> Bool { false }
  }

  /// Asks questions in many tasks, while another one looks at the counts all the time.
  private func storm(
    on hub: DelegateHub, seed: UInt64, _ question: @escaping @Sendable (inout Dice) async -> Void
  ) async {
    let isOver = Count()
    await withTaskGroup { group in
      group.addTask {
        var former = QuestionAccount()
        while isOver.value == 0 {
          let statistics = await hub.statistics()
          let now = statistics.questions
          let steps = [
            now.answered - former.answered, now.failed - former.failed, now.late - former.late,
            now.abandoned - former.abandoned,
          ]
          let all = statistics.protocols.flatMap(\.subscribers).map(\.questions)
          #expect(steps.allSatisfy { $0 >= 0 }, "\(former), then \(now)")
          #expect(all.allSatisfy { $0.answering >= 0 }, "\(all)")
          former = now
          await Task.yield()
        }
      }
      await withTaskGroup { callers in
        for task in 0..<6 {
          callers.addTask {
            var dice = Dice(seed: seed &* 31 &+ UInt64(task))
            for _ in rounds(120, atLeast: 20) { await question(&dice) }
          }
        }
      }
      await hub.drain()
      isOver.add(1)
    }
  }

  @Test("the parts are what the callers have heard", arguments: seeds(4))
  func exact(seed: UInt64) async {
    let hub = DelegateHub { $0.onIncident = { _ in } }
    let probes = Probe.many(4)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let (answered, failed, late, begun) = (Count(), Count(), Count(), Count())
    await storm(on: hub, seed: seed) { dice in
      let deeds = (0..<4).map { _ in Deed.allCases[dice.roll(6)] }
      let quick = (0..<4).map { _ in Deed.allCases[dice.roll(4)] }
      func deed(of probe: any Listener, among deeds: [Deed]) -> Deed {
        deeds[Int(probe.name) ?? 0]
      }
      switch dice.roll(5) {
      case 0:
        _ = try? await hub[Listener.self].ask(combining: Counting(received: answered)) { probe in
          if quick[Int(probe.name) ?? 0] == .refuses {
            failed.add(1)
            throw Refusal()
          }
          return quick[Int(probe.name) ?? 0] == .yields
        }
      case 1:
        _ = await hub[Listener.self].ask(combining: Counting(received: answered)) { probe in
          begun.add(1)
          try? await quick[Int(probe.name) ?? 0]()
          return quick[Int(probe.name) ?? 0] == .yields
        }
      case 2:
        let found = await hub[Listener.self].askInTurn() { probe in
          answered.add(1)
          try? await quick[Int(probe.name) ?? 0]()
          return quick[Int(probe.name) ?? 0] == .yields ? true : nil
        }
        _ = found
      default:
        let duration: Duration? = dice.roll(3) > 0 ? .milliseconds(dice.roll(3) + 1) : nil
        let replies = await hub[Listener.self].collect(within: duration) { probe in
          try await (duration == nil ? quick : deeds)[Int(probe.name) ?? 0]()
        }
        for reply in replies {
          switch reply.result {
          case .success: answered.add(1)
          case .failure(let error):
            (error as? DelegateHub.ReplyError == .timedOut ? late : failed).add(1)
          }
        }
      }
    }
    let questions = await hub.questions()
    #expect(questions.answering == 0)
    #expect(
      [questions.failed, questions.late] == [failed.value, late.value], "\(questions)")
    // What a combiner has received, or a reply has brought, is an answer; what it has not is none.
    #expect(questions.answered == answered.value)
    #expect(questions.abandoned <= begun.value)
    withExtendedLifetime(probes) {}
  }

  @Test(
    "none is lost or counted twice, with callers that are cancelled, take-overs and ends",
    arguments: seeds(4))
  func whatever(seed: UInt64) async {
    let (pool, begun) = (ThreadPool(threads: 2), Count())
    let hub = DelegateHub { $0.onIncident = { _ in } }
    let subscriptions = Recorder<DelegateHub.Subscription>()
    let kept = Recorder<Probe>()
    await storm(on: hub, seed: seed) { dice in
      let deeds = (0..<4).map { _ in Deed.allCases[dice.roll(6)] }
      let ask: @Sendable (any Listener) async throws -> Bool = { probe in
        begun.add(1)
        try await deeds[(Int(probe.name) ?? 0) % 4]()
        return true
      }
      switch dice.roll(10) {
      case 0...2:
        let probe = Probe("\(dice.roll(100))")
        if dice.roll(4) > 0 { kept.record(probe) }
        subscriptions.record(
          hub.subscribe(
            probe, to: Listener.self, id: dice.roll(5), on: dice.roll(4) == 0 ? pool : nil))
      case 3: subscriptions.history.randomElement(using: &dice)?.cancel()
      case 4: await subscriptions.history.randomElement(using: &dice)?.cancelAndWait()
      case 5:
        let milliseconds = dice.roll(3)
        _ = await hub[Listener.self].vote(within: .milliseconds(milliseconds), absent: .counts(as: false), ask)
      case 6:
        let milliseconds = dice.roll(3)
        _ = await hub[Listener.self].askInTurn(eachWithin: .milliseconds(milliseconds), absent: .abstains
        ) { try await ask($0) ? nil : 1 }
      case 7:
        let caller = Task { try? await hub[Listener.self].vote(ask) }
        for _ in 0..<dice.roll(5) { await Task.yield() }
        caller.cancel()
        _ = await caller.value
      case 8:
        let caller = Task {
          try? await hub[Listener.self].vote() { probe in
            begun.add(1)
            if deeds[0] == .refuses { throw Refusal() }
            return deeds[1] != .yields
          }
        }
        _ = await caller.value
      default:
        let caller = Task {
          await hub[Listener.self].pass(0, absent: .abstains) { probe, number in
            begun.add(1)
            _ = await hub[Listener.self].vote(by: .unanimous) { _ in
              begun.add(1)
              return true
            }
            try await deeds[(Int(probe.name) ?? 0) % 4]()
            return number + 1
          }
        }
        for _ in 0..<dice.roll(5) { await Task.yield() }
        caller.cancel()
        _ = await caller.value
      }
    }
    let questions = await hub.questions()
    #expect(questions.answering == 0)
    // Some were late before they had begun.
    #expect(begun.value...(begun.value + questions.late) ~= questions.asked, "\(questions)")
    var sum = QuestionAccount()
    for subscription in Set(subscriptions.history) {
      sum += subscription.statistics.questions
    }
    #expect(questions == sum)
  }
}

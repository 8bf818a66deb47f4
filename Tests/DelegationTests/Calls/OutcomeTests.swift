import Delegation
import DelegationTesting
import Testing

@Suite("What became of a notification: Outcome, and a window", .inTurn)
struct OutcomeTests {
  private func counts(_ outcome: DelegateHub.Outcome) -> [Int] {
    [outcome.addressed, outcome.handled, outcome.failed, outcome.missed]
  }

  @Test("nobody, handled, failed, dead: each is counted once")
  func fates() async {
    let delegates = Delegates<any Hearing>()
    let nobody = await delegates.notifyAndWait { try await $0.hear(1) }
    #expect(counts(nobody) == [0, 0, 0, 0] && !nobody.isHandled)
    let kept = [Hearer(), Hearer()]
    for hearer in kept { delegates.registry.subscribe(hearer, hold: .strongly) }
    let all = await delegates.notifyAndWait { try await $0.hear(1) }
    #expect(counts(all) == [2, 2, 0, 0] && all.isHandled)
    let failing = Hearer { _ in throw Refusal() }
    delegates.registry.subscribe(failing, hold: .strongly)
    delegates.registry.subscribe(Hearer())
    let some = await delegates.notifyAndWait { try await $0.hear(1) }
    #expect(counts(some) == [4, 2, 1, 1] && !some.isHandled)
    #expect(some.description == "addressed 4, handled 2, failed 1, missed 1")
    // The dead one has been found.
    #expect(counts(await delegates.notifyAndWait { try await $0.hear(1) }) == [3, 2, 1, 0])
  }

  @Test("one that does not conform is not addressed, even if it is removed before its turn")
  func conforming() async {
    let delegates = Delegates<any Hearing>()
    let more = delegates.conforming(to: (any HearingMore).self)
    let (good, plain) = (GoodHearer(), Hearer())
    delegates.registry.subscribe(plain)
    #expect(counts(await more.notifyAndWait { try await $0.hear(1) }) == [0, 0, 0, 0])
    delegates.registry.subscribe(good)
    #expect(counts(await more.notifyAndWait { try await $0.hear(1) }) == [1, 1, 0, 0])

    let executor = ManualExecutor()
    let waiting = Hearer()
    let token = delegates.registry.subscribe(waiting, on: executor)
    let outcome = await more.notifyAndWait(within: .zero) { try await $0.hear(2) }
    #expect(outcome.left.subscribers.contains { $0.subscription == token })
    async let second = more.notifyAndWait { try await $0.hear(3) }
    while delegates.statistics?.posted != 4 { await Task.yield() }
    token.cancel()
    #expect(counts(await second) == [1, 1, 0, 0])
    withExtendedLifetime((good, plain, waiting)) { _ = executor.run() }
  }

  @Test("a window lets so many wait, and names who is behind; a passed one does not hold")
  func window() async {
    let delegates = Delegates<any Hearing>()
    let gate = Gate()
    let slow = Hearer { _ in await gate.pass() }
    delegates.registry.subscribe(slow, hold: .strongly)
    for _ in 0..<3 {
      let outcome = await delegates.notifyAndWait(leaving: 3) { try await $0.hear(1) }
      #expect(outcome.addressed == 1 && outcome.handled == 0 && outcome.left.isEmpty)
    }
    let fourth = await delegates.notifyAndWait(leaving: 3, within: .zero) { try await $0.hear(1) }
    #expect(fourth.left.subscribers.count == 1)
    // Those behind it are not waited for with a larger window.
    #expect(await delegates.notifyAndWait(leaving: 5) { try await $0.hear(1) }.left.isEmpty)
    gate.open()
    let last = await delegates.notifyAndWait { try await $0.hear(1) }
    #expect(last.isHandled)
    #expect(
      await delegates.notifyAndWait(leaving: 1_000_000) { try await $0.hear(1) }.addressed == 1)
    await delegates.hub.drain()
  }

  @Test("a poster with a window waits for who is there, and for nobody who has ended")
  func windows() {
    for order in [[0, 1], [1, 0]] {
      let (stage, gates) = (Stage(), [Gate(), Gate()])
      let probes = stage.cast(2)
      let own = stage.start { hub in
        await hub[Listener.self].notifyAndWait {
          await gates[$0 === probes[0] ? 0 : 1].pass()
        }
      }
      let next = stage.start { await $0[Listener.self].notifyAndWait(leaving: 1) { _ in } }
      #expect(own.result == nil && next.result == nil)
      stage.hub.unsubscribe(probes[0])
      stage.run()
      for gate in order {
        #expect(next.result == nil)
        stage.open(gates[gate])
        if gate == 1 { #expect(next.result?.addressed == 2) }
        if gate == 1, order[0] == 1 { break }
      }
      #expect((own.result == nil) == (order[0] == 1))
      for gate in gates { stage.open(gate) }
      #expect(own.result?.handled == 2)
    }
  }

  @Test("a window is not held by what is inside it, however many have been passed before")
  func behindAWindow() {
    for passed in 0..<70 {
      let (stage, gate) = (Stage(), Gate())
      stage.cast(1)
      for _ in 0..<passed {
        #expect(stage.perform { await $0[Listener.self].notifyAndWait { _ in } } != nil)
      }
      let outcome = stage.perform {
        await $0[Listener.self].notifyAndWait(leaving: 1) { _ in await gate.pass() }
      }
      #expect(outcome?.handled == 0, "\(passed) passed before")
      stage.open(gate)
    }
  }

  @Test("storm: with a window, at most it and one a poster wait", arguments: [0, 1, 5, 30])
  func storm(window: Int) async {
    let posters = 8
    let delegates = Delegates<any Hearing>()
    let (posted, most, left) = (Count(), Recorder<Int>(), Count())
    let hearers = (0..<3).map { place in
      let handled = Count()
      return Hearer { number in
        if place == 2 { most.record(posted.value - handled.value) }
        handled.add(1)
        if number % (7 + place) == 0 { await Task.yield() }
        if number % 11 == place { throw Refusal() }
      }
    }
    for hearer in hearers { delegates.registry.subscribe(hearer, hold: .strongly) }
    let rounds = Effort.count(100)
    let sums = await withTaskGroup { group in
      for _ in 0..<posters {
        group.addTask {
          var sums = [0, 0]
          for number in 0..<rounds {
            posted.add(1)
            let outcome = await delegates.notifyAndWait(leaving: window) {
              try await $0.hear(number)
            }
            sums[0] += outcome.addressed
            if window == 0, outcome.handled + outcome.failed != 3 { left.add(1) }
            sums[1] += outcome.left.subscribers.count
          }
          return sums
        }
      }
      return await group.reduce(into: [0, 0]) { $0 = [$0[0] + $1[0], $0[1] + $1[1]] }
    }
    await delegates.hub.drain()
    #expect(sums == [3 * posters * rounds, 0] && left.value == 0)
    #expect(most.events.max() ?? 0 <= window + posters)
    #expect(delegates.statistics?.counts.waiting == 0)
  }
}

import Testing

@testable import Delegation

private protocol Outsider: AnyObject, Sendable {}

@Suite("Guarantee 10: deadline, and who is late", .inTurn)
struct Guarantee10LateTests {
  /// What becomes of one that waits for its busy executor.
  enum Fate: CaseIterable {
    case stays, isCancelled, isUnsubscribed, dies
  }

  @Test("an answer that comes after the deadline is late, even if nobody has heard the alarm")
  func afterTheDeadline() {
    let stage = Stage()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    // The alarm waits for the executor, as it does for a pool whose threads are blocked.
    let answer: @Sendable () -> Bool = { [clock = stage.clock] in
      clock.advance(by: .seconds(1))
      return true
    }
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in
        answer()
      }
    }
    let inTurn = stage.start { hub in
      await hub[Listener.self].askInTurn(eachWithin: .seconds(1), absent: .abstains) { _ in
        answer() ? 1 : nil
      }
    }
    let replies = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(1)) { _ in answer() }.map(\.error)
    }
    let questions = stage.start { await $0.statistics().questions }
    #expect(vote.result == false)
    #expect(inTurn.result == .some(nil))
    #expect(replies.result?.map { $0 as? DelegateHub.ReplyError } == [.timedOut])
    #expect(questions.result.map { [$0.answered, $0.late, $0.answering] } == [0, 3, 0])
    withExtendedLifetime(probe) {}
  }

  @Test(
    "one that was removed or died before it was asked is not late, though its executor is busy",
    arguments: Fate.allCases)
  func busyExecutor(fate: Fate) {
    let stage = Stage()
    let busy = ManualExecutor()
    let here = Probe("here")
    stage.hub.subscribe(here, to: Listener.self)
    var there: Probe? = Probe("there")
    let subscription = there.map { stage.hub.subscribe($0, to: Listener.self, on: busy) }
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .counts(as: false)) { _ in true }
    }
    let names = stage.start { hub in
      await hub[Listener.self].ask(combining: .all(), within: .seconds(1), absent: .counts(as: "late")
      ) { $0.name }
    }
    let replies = stage.start { hub in
      await hub[Listener.self].collect(within: .seconds(1)) { $0.name }.map { $0.error == nil }
    }
    switch fate {
    case .stays: break
    case .isCancelled: subscription?.cancel()
    case .isUnsubscribed: if let there { stage.hub.unsubscribe(there) }
    case .dies: there = nil
    }
    stage.advance(by: .seconds(1))
    let isLate = fate == .stays
    #expect(vote.result == !isLate)
    #expect(names.result == (isLate ? ["here", "late"] : ["here"]))
    #expect(replies.result == (isLate ? [true, false] : [true]))
    busy.run()
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    withExtendedLifetime((here, there)) {}
  }

  /// Why a subscriber cannot be asked.
  enum Hindrance: CaseIterable {
    case hasDied, hasDiedAndMustConform, doesNotConform

    func delegates(of hub: DelegateHub) -> Delegates<any Listener> {
      let all = hub[Listener.self]
      return switch self {
      case .hasDied: all
      case .hasDiedAndMustConform: all.conforming(to: Listener.self)
      case .doesNotConform: all.conforming(to: Outsider.self).conforming(to: Listener.self)
      }
    }
  }

  @Test(
    "with a deadline of zero nobody is asked, and those who could not be are absent, not late",
    arguments: Hindrance.allCases)
  func zero(hindrance: Hindrance) {
    func ask<Result: Sendable>(
      _ question: @escaping @Sendable (Delegates<any Listener>) async -> Result
    ) -> Result? {
      let stage = Stage()
      let probe = Probe()
      stage.hub.subscribe(hindrance == .doesNotConform ? probe : Probe(), to: Listener.self)
      defer { withExtendedLifetime(probe) {} }
      return stage.perform { await question(hindrance.delegates(of: $0)) }
    }
    let isAtLeastOne = ask { delegates in
      await delegates.vote(by: .atLeast(1), within: .zero, absent: .counts(as: true)) { _ in true }
    }
    #expect(isAtLeastOne == false)
    #expect(ask { await $0.vote(within: .zero, absent: .counts(as: false)) { _ in true } } == true)
    let names = ask { delegates in
      await delegates.ask(combining: .all(), within: .zero, absent: .counts(as: "late")) { $0.name }
    }
    #expect(names == [])
    #expect(ask { await $0.collect(within: .zero) { $0.name }.count } == 0)
    let first = ask { delegates in
      await delegates.askInTurn(within: .zero, absent: .counts(as: "late")) { $0.name }
    }
    #expect(first == .some(nil))
    let passed = ask { delegates in
      await delegates.pass("v", within: .zero, absent: .counts(as: "late")) { $1 + $0.name }
    }
    #expect(passed == "v")
  }

  @Test("with a deadline of zero those who live count as late, whoever has died beside them")
  func zeroBesideTheDead() {
    let stage = Stage()
    let first = Probe("first")
    stage.hub.subscribe(first, to: Listener.self)
    let dead = stage.hub.subscribe(Probe("dead"), to: Listener.self)
    let last = Probe("last")
    stage.hub.subscribe(last, to: Listener.self)
    let replies = stage.perform { hub in
      await hub[Listener.self].collect(within: .zero) { $0.name }
        .map { $0.error as? DelegateHub.ReplyError == .timedOut }
    }
    #expect(replies == [true, true])
    #expect(!dead.isActive)
    withExtendedLifetime((first, last)) {}
  }

  @Test("the longest durations are no deadline, and stop nothing")
  func longest() async {
    // In a process of its own, for what is tested is that it does not stop.
    await #expect(processExitsWith: .success) {
      let durations = [
        Duration.seconds(Int64.max), Duration(secondsComponent: .max, attosecondsComponent: 0),
        .seconds(1 << 40), .seconds(UInt32.max),
      ]
      let clocks: [any Clock<Duration>] = [ContinuousClock(), SuspendingClock()]
      for clock in clocks {
        for duration in durations {
          let hub = DelegateHub { configuration in
            configuration.clock = clock
            configuration.slowAfter = duration
          }
          let probes = Probe.many(2)
          for probe in probes { hub.subscribe(probe, to: Listener.self) }
          let gate = Gate()
          hub[Listener.self].notify() { _ in await gate.pass() }
          await gate.arrivals(2)
          let drained = Task { await hub.drain(within: duration).isEmpty }
          let yes = await hub[Listener.self].vote(within: duration, absent: .abstains) { _ in
            await Task.yield()
            return true
          }
          let replies = await hub[Listener.self].collect(within: duration) { probe in
            await Task.yield()
            return probe.name
          }
          gate.open()
          let isEmpty = await drained.value
          precondition(yes && replies.count == 2 && isEmpty)
          withExtendedLifetime(probes) {}
        }
      }
    }
  }

  @Test("many calls that are decided before their deadline leave no alarm, nor any sleeper")
  func manyDecided() async {
    let clock = ManualClock()
    let hub = DelegateHub { $0.clock = clock }
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    for _ in 0..<1_000 {
      let yes = await hub[Listener.self].vote(within: .seconds(600), absent: .abstains) { _ in
        await Task.yield()
        return true
      }
      #expect(yes)
    }
    #expect(hub.deadlines.pending == 0)
    #expect(clock.sleepers == 0)
    withExtendedLifetime(probes) {}
  }
}

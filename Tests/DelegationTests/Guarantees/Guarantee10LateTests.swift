import Testing

@testable import Delegation

@Suite("Guarantee 10: deadline, and who is late", .inTurn)
struct Guarantee10LateTests {
  /// What becomes of one that waits for its busy executor.
  enum Fate: CaseIterable {
    case stays, isCancelled, isUnsubscribed, dies
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
      await hub.vote(Listener.self, within: .seconds(1), absent: .counts(as: false)) { _ in true }
    }
    let names = stage.start { hub in
      await hub.ask(
        Listener.self, combining: .all(), within: .seconds(1), absent: .counts(as: "late")
      ) { $0.name }
    }
    let replies = stage.start { hub in
      await hub.collect(Listener.self, within: .seconds(1)) { $0.name }.map { $0.error == nil }
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
          hub.notify(Listener.self) { _ in await gate.pass() }
          await gate.arrivals(2)
          let drained = Task { await hub.drain(within: duration).isEmpty }
          let yes = await hub.vote(Listener.self, within: duration, absent: .abstains) { _ in
            await Task.yield()
            return true
          }
          let replies = await hub.collect(Listener.self, within: duration) { probe in
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

  @Test("many calls that are decided before their deadline leave one sleep, and no alarm")
  func manyDecided() async {
    let clock = ManualClock()
    let hub = DelegateHub { $0.clock = clock }
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    for _ in 0..<1_000 {
      let yes = await hub.vote(Listener.self, within: .seconds(600), absent: .abstains) { _ in
        await Task.yield()
        return true
      }
      #expect(yes)
    }
    #expect(await clock.alarms().count == 1)
    #expect(hub.deadlines.pending == 0)
    #expect(clock.sleepers == 1)
    withExtendedLifetime(probes) {}
  }
}

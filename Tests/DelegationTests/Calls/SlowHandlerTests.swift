import Delegation
import Testing

@Suite("slowAfter", .inTurn)
struct SlowHandlerTests {
  private let told = Recorder<String>()

  private func stage(slowAfter: Duration? = .seconds(1)) -> Stage {
    Stage { [told] configuration in
      configuration.slowAfter = slowAfter
      configuration.onIncident = { incident in
        let duration = incident.duration.map { " for \($0)" } ?? ""
        told.record("\(incident.kind) in \(incident.call)\(duration), \(incident.site)")
      }
    }
  }

  @Test("a handler that runs for longer is told once while it runs", arguments: Reach.allCases)
  func slow(reach: Reach) {
    let stage = stage()
    stage.hub.subscribe(Probe(), to: Listener.self, hold: .strongly, fileID: "slow", line: 1)
    for round in 1...2 {
      let gate = Gate()
      let call = stage.start { hub in
        await reach.call(hub) { _ in await gate.pass() }
        await hub.drain()
      }
      stage.advance(by: .milliseconds(999))
      #expect(told.history.count == round - 1)
      // It is noticed before it has run for twice the time.
      stage.advance(by: .milliseconds(1001))
      stage.advance(by: .seconds(10))
      #expect(told.history.count == round && told.history.last?.hasPrefix("slow in ") == true)
      #expect(told.history.last?.hasSuffix(", slow:1") == true)
      stage.open(gate)
      #expect(call.result != nil)
    }
  }

  @Test("quick ones are not told, nobody watches when nothing runs, and nothing without a limit")
  func quick() {
    for limit in [Duration.seconds(1), nil, .seconds(Int64.max)] {
      let stage = stage(slowAfter: limit)
      let gate = Gate()
      stage.cast(10)
      for number in 0..<20 {
        stage.hub[Listener.self].notify { $0.log.record(number) }
        #expect(stage.perform { await $0[Listener.self].vote { _ in await Self.pass() } } == true)
      }
      stage.run()
      if limit == .seconds(1) {
        stage.advance(by: .seconds(2))
        #expect(stage.clock.sleepers == 0)
      } else {
        stage.hub[Listener.self].notify { _ in await gate.pass() }
        stage.run()
        #expect(stage.clock.sleepers == 0)
        stage.advance(by: .seconds(1_000_000))
        stage.open(gate)
      }
      #expect(told.history == [])
    }
  }

  private static func pass() async -> Bool { true }

  @Test("a slowAfter of zero or less stops the program, and says why")
  func zero() async {
    let zero = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = DelegateHub(.init(slowAfter: .zero))
    }
    #expect(said(zero, "slowAfter is 0.0 seconds, by which every handler would be slow."))
  }
}

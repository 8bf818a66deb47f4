import Testing

@testable import Delegation

@Suite("Faults: callers that do not wait", .inTurn)
struct FaultCallerTests {
  @Test("The poster's task is cancelled")
  func posterIsCancelled() async {
    let hub = DelegateHub()
    let (gate, arrived) = (Gate(), Gate())
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let poster = Task {
      await arrived.pass()
      hub[Listener.self].notify() { $0.log.record(Task.isCancelled ? -1 : 1) }
      // Does not wait for the handlers, which hang.
      await hub[Listener.self].notifyAndWait() { probe in
        await gate.pass()
        probe.log.record(Task.isCancelled ? -2 : 2)
      }
      // Its own questions are asked, of handlers that see the cancellation.
      return await hub[Listener.self].ask(combining: .all()) { _ in Task.isCancelled }
    }
    poster.cancel()
    arrived.open()
    #expect(await poster.value == [true, true, true])
    gate.open()
    #expect(await hub.drain().isEmpty)
    for probe in probes { #expect(probe.log.history == [1, 2]) }
    #expect(await hub.accounts() == .init(handled: 6))
  }

  @Test("The caller's deadline is zero")
  func deadlineIsZero() {
    let stage = Stage()
    let probes = stage.cast(3)
    let gate = Gate()
    stage.hub[Listener.self].notify() { probe in
      if probe.name == "1" { await gate.pass() }
    }
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()

    let asked = Recorder<String>()
    let ask: @Sendable (any Listener) -> String = { probe in
      asked.record(probe.name)
      return probe.name
    }
    let names = stage.perform {
      await $0[Listener.self].ask(combining: .all(), within: .zero, absent: .counts(as: "late")
      ) { ask($0) }
    }
    #expect(names == ["late", "late", "late"])
    #expect(
      stage.perform {
        await $0[Listener.self].vote(within: .zero, absent: .counts(as: false)) { ask($0) == "" }
      } == false)
    let replies = stage.perform { await $0[Listener.self].collect(within: .zero) { ask($0) } } ?? []
    #expect(replies.count == 3)
    for reply in replies {
      #expect(throws: DelegateHub.ReplyError.timedOut) { try reply.result.get() }
    }
    stage.run()
    #expect(asked.history == [], "nobody is asked")

    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.subscribers.map(\.running) == [1])
    #expect(left?.subscribers.map(\.waiting) == [1])
    stage.open(gate)
    #expect(probes.map(\.log.history) == [[1], [1], [1]])
    #expect(stage.perform { await $0.drain(within: .zero) }?.isEmpty == true)
    #expect(stage.accounts == .init(handled: 6))
  }
}

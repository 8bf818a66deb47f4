import Testing

@testable import Delegation

@Suite("Handlers that wait for each other through a take-over", .inTurn)
struct TakeOverWaitTests {
  @Test("Both go on, whichever was the first to wait", arguments: [true, false])
  func takeOver(callerIsFirst: Bool) {
    let stage = Stage()
    let hub = stage.hub
    let other = DelegateHub(on: stage.executor)
    let (former, successor, caller) = (Probe("former"), Probe("successor"), Probe("caller"))
    let waited = other.subscribe(caller, to: Listener.self)
    let ended = hub.subscribe(successor, to: Listener.self)
    let (mayCancel, mayCall, mayEnd) = (Gate(), Gate(), Gate())
    let done = Recorder<String>()
    // The successor's handler of an earlier subscription is going to wait for the caller's.
    hub.notify(Listener.self) { _ in
      await mayCancel.pass()
      await waited.cancelAndWait()
      done.record("successor")
    }
    stage.run()
    ended.cancel()
    hub.subscribe(former, to: Listener.self, id: 1)
    hub.notify(Listener.self) { _ in await mayEnd.pass() }
    // And the caller's for whoever has the id.
    other.notify(Listener.self) { _ in
      await mayCall.pass()
      await hub.notifyAndWait(Listener.self) { done.record("told \($0.name)") }
      done.record("caller")
    }
    stage.run()
    for gate in callerIsFirst ? [mayCall, mayCancel] : [mayCancel, mayCall] { stage.open(gate) }
    #expect(done.history == [])
    hub.subscribe(successor, to: Listener.self, id: 1)
    stage.open(mayEnd)
    #expect(done.history.sorted() == ["caller", "successor", "told successor"])
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
    #expect(stage.perform { _ in await other.drain() }?.isEmpty == true)
    withExtendedLifetime((former, successor, caller)) {}
  }
}

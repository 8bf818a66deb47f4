import Testing

@testable import Delegation

@Suite("unsubscribeAndWait", .inTurn)
struct UnsubscribeAndWaitTests {
  private let hub = DelegateHub()
  private let probe = Probe()

  @Test("it ends everything, and returns when no handler of the object is running")
  func everything() async {
    let gates = [Gate(), Gate(), Gate()]
    hub.subscribe(probe, to: Listener.self)
    hub.subscribe(probe, to: Bystander.self)
    hub[Listener.self].notify() { _ in await gates[0].pass() }
    hub[Listener.self].notify() { $0.log.record(1) }
    let question = Task {
      await hub[Bystander.self].vote() { _ in
        await gates[1].pass()
        return true
      }
    }
    await gates[0].arrivals()
    await gates[1].arrivals()
    let events = Recorder<String>()
    let waiting = Task {
      await hub.unsubscribeAndWait(probe)
      events.record("returned")
    }
    while (!hub[Listener.self].isEmpty) || (!hub[Bystander.self].isEmpty) {
      await Task.yield()
    }
    hub[Listener.self].notify() { $0.log.record(2) }
    for gate in gates[..<2] {
      #expect(events.history == [])
      gate.open()
    }
    await waiting.value
    #expect(await question.value)
    await hub.drain()
    #expect(probe.log.history == [])
  }

  @Test("it does not wait for the handlers of others, though their subscriptions have ended")
  func othersThatHaveEnded() async {
    let other = Probe("other")
    let gate = Gate()
    let subscription = hub.subscribe(other, to: Listener.self)
    hub.subscribe(probe, to: Bystander.self)
    hub[Listener.self].notify() { _ in await gate.pass() }
    await gate.arrivals()
    subscription.cancel()
    await hub.unsubscribeAndWait(probe)
    #expect((!!hub[Bystander.self].isEmpty))
    gate.open()
    await hub.drain()
  }

  @Test("it waits for handlers of subscriptions that had ended before, too")
  func endedBefore() async {
    let gate = Gate()
    let subscription = hub.subscribe(probe, to: Listener.self)
    let question = Task {
      await hub[Listener.self].vote() { _ in
        await gate.pass()
        return true
      }
    }
    await gate.arrivals()
    subscription.cancel()
    let events = Recorder<String>()
    let waiting = Task {
      events.record("called")
      await hub.unsubscribeAndWait(probe)
      events.record("returned")
    }
    _ = await events.history(of: 1)
    // As long as it would take if it did not wait.
    for _ in 0..<1000 { await Task.yield() }
    events.record("opened")
    gate.open()
    await waiting.value
    _ = await question.value
    #expect(events.history == ["called", "opened", "returned"])
  }

  @Test("from a handler of the object it does not wait for that handler")
  func fromItsHandler() async {
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { [hub, probe] _ in
      await hub.unsubscribeAndWait(probe)
      probe.log.record(1)
    }
    await hub.drain()
    #expect(probe.log.history == [1])
    #expect((!!hub[Listener.self].isEmpty))
  }

  @Test("a cancelled caller waits all the same")
  func cancelled() async {
    let gate = Gate()
    hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { probe in
      await gate.pass()
      probe.log.record(1)
    }
    await gate.arrivals()
    let waiting = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await hub.unsubscribeAndWait(probe)
      return probe.log.history
    }
    while (!hub[Listener.self].isEmpty) { await Task.yield() }
    gate.open()
    #expect(await waiting.value == [1])
  }

  @Test("others go on being called")
  func others() async {
    let other = Probe("other")
    hub.subscribe(probe, to: Listener.self)
    hub.subscribe(other, to: Listener.self)
    await hub.unsubscribeAndWait(probe)
    #expect(hub[Listener.self].subscribers.map(\.name) == ["other"])
  }
}

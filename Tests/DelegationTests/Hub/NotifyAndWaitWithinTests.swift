import Delegation
import Testing

@Suite("notifyAndWait within a time, and who is subscribed", .inTurn)
struct NotifyAndWaitWithinTests {
  @Test("those that have not handled it at the deadline are named, and go on")
  func late() async throws {
    let hub = DelegateHub()
    let gate = Gate()
    let (prompt, slow) = (Probe("prompt"), Probe("slow"))
    hub.subscribe(prompt, to: Listener.self, id: "prompt")
    let subscription = hub.subscribe(slow, to: Listener.self, id: "slow")
    hub.notify(Listener.self) { probe in
      if probe.name == "slow" { await gate.pass() }
    }
    await gate.arrivals()
    let left = await hub.notifyAndWait(Listener.self, within: .zero) { $0.log.record(1) }
    let leftover = try #require(left.subscribers.last)
    #expect(leftover.subscription == subscription)
    #expect(leftover.running == 1 && leftover.waiting == 1)
    gate.open()
    await hub.drain()
    #expect(slow.log.history == [1] && prompt.log.history == [1])
  }

  @Test("nobody is left when all have handled it, and the longest times are no deadline")
  func inTime() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    for duration: Duration? in [nil, .seconds(600), .seconds(Int64.max)] {
      #expect(await hub.notifyAndWait(Listener.self, within: duration) { $0.log.record(1) }.isEmpty)
    }
    #expect(probe.log.history == [1, 1, 1])
  }

  @Test("whether anybody is subscribed is known at once")
  func subscribers() {
    let hub = DelegateHub()
    #expect(!hub.hasSubscribers(of: Listener.self))
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    #expect(hub.hasSubscribers(of: Listener.self))
    subscription.cancel()
    #expect(!hub.hasSubscribers(of: Listener.self))
    withExtendedLifetime(probe) {}
  }
}

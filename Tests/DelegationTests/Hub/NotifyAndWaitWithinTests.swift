import Testing

@testable import Delegation

@Suite("notifyAndWait by a deadline, and who is subscribed", .inTurn)
struct NotifyAndWaitWithinTests {
  @Test("at the deadline it returns with those that have not got past the notification")
  func left() throws {
    let stage = Stage()
    let probes = stage.cast(4)
    let (early, gate) = (Gate(), Gate())
    // "1" handles an older notification still, "2" this one.
    stage.hub[Listener.self].notify() { if $0.name == "1" { await early.pass() } }
    let call = stage.start { hub in
      await hub[Listener.self].notifyAndWait(within: .seconds(5)) { probe in
        if probe.name == "2" { await gate.pass() }
        probe.log.record(1)
      }
    }
    stage.advance(by: .seconds(4))
    #expect(call.result == nil)
    stage.advance(by: .seconds(1))
    let left = try #require(call.result)
    #expect(left.subscribers.count == 2)
    #expect(left.subscribers.map(\.running) == [1, 1])
    #expect(!left.isEmpty)
    #expect(probes.map(\.log.history) == [[1], [], [], [1]])
    // The notification goes on.
    stage.open(early)
    stage.open(gate)
    #expect(probes.map(\.log.history) == [[1], [1], [1], [1]])
  }

  @Test("when all have got past it, it returns at once, whatever else they are doing")
  func inTime() {
    let stage = Stage()
    let probes = stage.cast(2)
    let gate = Gate()
    let call = stage.start { hub in
      let left = hub
      async let result = left[Listener.self].notifyAndWait(within: .seconds(5)) { $0.log.record(1) }
      return await result.isEmpty
    }
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    #expect(call.result == true)
    #expect(probes.map(\.log.history) == [[1], [1]])
    stage.open(gate)
  }

  @Test("those that die, are removed or drop it are not left")
  func notLeft() {
    let stage = Stage()
    let gate = Gate()
    let (removed, dropping) = (Probe("removed"), Probe("dropping"))
    var dying: Probe? = Probe("dying")
    stage.hub.subscribe(removed, to: Listener.self)
    stage.hub.subscribe(dropping, to: Listener.self, mailbox: .latest)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    stage.hub.subscribe(dying!, to: Listener.self)
    dying = nil
    let call = stage.start { hub in
      await hub[Listener.self].notifyAndWait(within: .seconds(5)) { $0.log.record(1) }
    }
    stage.hub.unsubscribe(removed)
    stage.hub[Listener.self].notify() { $0.log.record(2) }
    stage.run()
    #expect(call.result?.isEmpty == true)
    stage.open(gate)
    #expect(dropping.log.history == [2])
  }

  @Test("a cancelled caller gets at once what is left")
  func cancelled() throws {
    let stage = Stage()
    let probes = stage.cast(1)
    let gate = Gate()
    let call = stage.start { hub in
      await hub[Listener.self].notifyAndWait() { probe in
        await gate.pass()
        probe.log.record(1)
      }
    }
    #expect(call.result == nil)
    call.cancel()
    stage.run()
    #expect(try #require(call.result).subscribers.count == 1)
    stage.open(gate)
    #expect(probes[0].log.history == [1])
  }

  @Test("a negative deadline counts as zero")
  func negative() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let gate = Gate()
    let left = await hub[Listener.self].notifyAndWait(within: .seconds(-1)) { _ in
      await gate.pass()
    }
    #expect(left.subscribers.count == 1)
    gate.open()
    #expect(await hub.drain().isEmpty)
    withExtendedLifetime(probe) {}
  }

  @Test("those that have not handled it at the deadline are named, and go on")
  func late() async throws {
    let hub = DelegateHub()
    let gate = Gate()
    let (prompt, slow) = (Probe("prompt"), Probe("slow"))
    hub.subscribe(prompt, to: Listener.self, id: "prompt")
    let subscription = hub.subscribe(slow, to: Listener.self, id: "slow")
    hub[Listener.self].notify() { probe in
      if probe.name == "slow" { await gate.pass() }
    }
    await gate.arrivals()
    let left = await hub[Listener.self].notifyAndWait(within: .zero) { $0.log.record(1) }
    let leftover = try #require(left.subscribers.last)
    #expect(leftover.subscription == subscription)
    #expect(leftover.running == 1 && leftover.waiting == 1)
    gate.open()
    await hub.drain()
    #expect(slow.log.history == [1] && prompt.log.history == [1])
  }

  @Test("nobody is left when all have handled it, and the longest times are no deadline")
  func longest() async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    for duration: Duration? in [nil, .seconds(600), .seconds(Int64.max)] {
      #expect(await hub[Listener.self].notifyAndWait(within: duration) { $0.log.record(1) }.isEmpty)
    }
    #expect(probe.log.history == [1, 1, 1])
  }

  @Test("whether anybody is subscribed is known at once")
  func subscribers() {
    let hub = DelegateHub()
    #expect((!!hub[Listener.self].isEmpty))
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    #expect((!hub[Listener.self].isEmpty))
    subscription.cancel()
    #expect((!!hub[Listener.self].isEmpty))
    withExtendedLifetime(probe) {}
  }
}

import Testing

@testable import Delegation

@Suite("Leftovers of drain", .inTurn)
struct LeftoversTests {
  @Test("at the deadline drain tells who has work left, and how much")
  func whoAndWhat() {
    let stage = Stage()
    let gate = Gate()
    let (busy, asked, idle) = (Probe("busy"), Probe("asked"), Probe("idle"))
    stage.hub.subscribe(asked, to: Listener.self, id: 7, fileID: "Shop/Cart.swift", line: 1)
    stage.hub.subscribe(idle, to: Listener.self, fileID: "Shop/Cart.swift", line: 2)
    stage.hub.subscribe(busy, to: Listener.self, priority: 1, fileID: "Shop/Quota.swift", line: 3)
    for number in 0..<4 {
      stage.hub[Listener.self].notify() { probe in
        if probe.name == "busy" { await gate.pass() }
        probe.log.record(number)
      }
    }
    let votes = (0..<2).map { _ in
      stage.start { hub in
        await hub[Listener.self].vote() { probe in
          if probe.name != "idle" { await gate.pass() }
          return true
        }
      }
    }
    let drain = stage.start { await $0.drain(within: .seconds(5)) }
    stage.advance(by: .milliseconds(4_999))
    #expect(drain.result == nil)
    stage.advance(by: .milliseconds(1))
    let left = drain.result
    #expect(left?.isEmpty == false)
    #expect(
      left?.subscribers.map(\.subscriber) == ["DelegationTests.Probe", "DelegationTests.Probe (7)"])
    #expect(left?.subscribers.map(\.site) == ["Shop/Quota.swift:3", "Shop/Cart.swift:1"])
    #expect(left?.subscribers.map(\.running) == [3, 2])
    #expect(left?.subscribers.map(\.waiting) == [3, 0])
    #expect(
      left?.description == """
        DelegationTests.Probe, subscribed at Shop/Quota.swift:3: 3 running, 3 waiting
        DelegationTests.Probe (7), subscribed at Shop/Cart.swift:1: 2 running, 0 waiting
        """)
    stage.open(gate)
    #expect(votes.map(\.result) == [true, true])
    #expect(busy.log.history == [0, 1, 2, 3])
    #expect(left?.subscribers.map(\.subscription.isActive) == [true, true])
    let rest = stage.perform { await $0.drain(within: .seconds(5)) }
    #expect(rest?.isEmpty == true)
    #expect(rest?.subscribers == [])
    #expect(rest?.description == "nothing left")
    #expect(stage.alarms == 0)
  }

  @Test("to tell what is left at the deadline applies no limit, and releases nothing")
  func untouched() async {
    // Nobody runs it, so no worker comes.
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let (probe, lifetimes) = (Probe(), Lifetimes())
    hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    for _ in 0..<5 {
      let tracked = lifetimes.make()
      hub[Listener.self].notify() { _ in withExtendedLifetime(tracked) {} }
    }
    #expect(await hub.drain(within: .zero).subscribers.map(\.waiting) == [5])
    #expect(lifetimes.alive == 5)
    executor.run()
    #expect(lifetimes.alive == 0)
    withExtendedLifetime(probe) {}
  }

  @Test("called in a handler, both return what they did not wait for")
  func withinHandlers() {
    let stage = Stage()
    let hub = stage.hub
    let (own, other) = (Probe(), Probe())
    hub.subscribe(own, to: Listener.self, id: "own")
    hub.subscribe(other, to: Bystander.self, id: "other")
    let left = Recorder<DelegateHub.Leftovers>()
    hub[Listener.self].notify() { _ in
      left.record(await hub.drain())
      left.record(await hub[Listener.self].notifyAndWait() { _ in })
      left.record(await hub[Bystander.self].notifyAndWait() { _ in })
      _ = await hub[Bystander.self].vote() { _ in
        left.record(await hub.drain())
        return true
      }
    }
    stage.run()
    #expect(
      left.history.map {
        $0.subscribers.map { "\($0.subscriber) \($0.running) \($0.waiting)" }.sorted()
      } == [
        ["DelegationTests.Probe (own) 1 0"], ["DelegationTests.Probe (own) 1 1"], [],
        ["DelegationTests.Probe (other) 1 0", "DelegationTests.Probe (own) 1 1"],
      ])
    #expect(left.history.map(\.isEmpty) == [false, false, true, false])
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
    withExtendedLifetime((own, other)) {}
  }

  @Test("one whose task drains the hub is taken to wait, and is returned as left")
  func drainsInATask() {
    let (stage, gate) = (Stage(), Gate())
    let probes = stage.cast(2)
    let left = Recorder<DelegateHub.Leftovers>()
    stage.hub[Listener.self].notify() { [hub = stage.hub, executor = stage.executor] probe in
      if probe.name == "0" {
        Task(executorPreference: executor) { await hub.drain() }
        await gate.pass()
      } else {
        for _ in 0..<5 { await Task.yield() }
        left.record(await hub[Listener.self].notifyAndWait() { $0.log.record(1) })
      }
    }
    stage.run()
    // The other one's handler has yet to return as well.
    #expect(left.history.first?.subscribers.map(\.waiting) == [1, 1])
    #expect(probes[0].log.history == [])
    stage.open(gate)
    #expect(probes.map(\.log.history) == [[1], [1]])
  }

  @Test("what handlers post in turn is waited for, and left at the deadline")
  func inTurn() {
    let stage = Stage()
    let gates = [Gate(), Gate()]
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub.subscribe(probe, to: Bystander.self)
    let hub = stage.hub
    hub[Listener.self].notify() { _ in
      await gates[0].pass()
      hub[Bystander.self].notify() { probe in
        await gates[1].pass()
        probe.log.record(2)
      }
    }
    let patient = stage.start { await $0.drain().isEmpty }
    let impatient = stage.start { await $0.drain(within: .seconds(1)).description }
    stage.open(gates[0])
    #expect(patient.result == nil)
    stage.advance(by: .seconds(1))
    #expect(impatient.result?.hasSuffix(": 1 running, 0 waiting") == true)
    #expect(patient.result == nil)
    stage.open(gates[1])
    #expect(patient.result == true)
    #expect(probe.log.history == [2])
  }

  @Test("one handler, or one notification that waits, is enough to be left")
  func leastOfAll() {
    let stage = Stage()
    let gate = Gate()
    let still = ManualExecutor()
    let (asked, told, idle) = (Probe("asked"), Probe("told"), Probe("idle"))
    stage.hub.subscribe(asked, to: Listener.self, fileID: "asked", line: 1)
    stage.hub.subscribe(told, to: Bystander.self, on: still, fileID: "told", line: 2)
    stage.hub.subscribe(idle, to: Listener.self)
    stage.hub[Bystander.self].notify() { _ in }
    let vote = stage.start { hub in
      await hub[Listener.self].vote() { probe in
        if probe.name == "asked" { await gate.pass() }
        return true
      }
    }
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(
      left?.subscribers.map { "\($0.site): \($0.running), \($0.waiting)" }.sorted()
        == ["asked:1: 1, 0", "told:2: 0, 1"])
    still.run()
    stage.open(gate)
    #expect(vote.result == true)
    withExtendedLifetime((asked, told, idle)) {}
  }

  @Test("a cancelled caller is told at once what is left")
  func cancelled() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    let drains = [Duration?.none, .seconds(5)].map { duration in
      stage.start { await $0.drain(within: duration) }
    }
    for drain in drains {
      #expect(drain.result == nil)
      drain.cancel()
      stage.run()
      #expect(drain.result?.subscribers.map(\.running) == [1])
    }
    #expect(stage.alarms == 0)
    let start = Gate()
    let late = stage.start { hub in
      await start.pass()
      return await hub.drain().isEmpty
    }
    late.cancel()
    stage.open(start)
    #expect(late.result == false)
    stage.open(gate)
    withExtendedLifetime(probe) {}
  }

  @Test("one that was removed and still runs is left, without what waited for it")
  func removed() {
    let stage = Stage()
    let gate = Gate()
    let probe = Probe()
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    for _ in 0..<3 { stage.hub[Listener.self].notify() { _ in await gate.pass() } }
    stage.run()
    subscription.cancel()
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.subscribers.map(\.running) == [1])
    #expect(left?.subscribers.map(\.waiting) == [0])
    stage.open(gate)
    #expect(stage.perform { await $0.drain(within: .zero).isEmpty } == true)
    withExtendedLifetime(probe) {}
  }

  @Test("they are told in the order in which they are served")
  func order() {
    let stage = Stage()
    let gate = Gate()
    let still = ManualExecutor()
    let probes = Probe.many(4)
    for (number, probe) in probes.enumerated() {
      stage.hub.subscribe(
        probe, to: Listener.self, priority: [0, 5, -1, 5][number], on: still, fileID: "p",
        line: UInt(number))
    }
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.subscribers.map(\.site) == ["p:1", "p:3", "p:0", "p:2"])
    gate.open()
    still.run()
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    withExtendedLifetime(probes) {}
  }

  @Test("the deadline holds against one that blocks its executor for good")
  func blockedExecutor() {
    let stage = Stage()
    let still = ManualExecutor()
    let probe = Probe()
    stage.hub.subscribe(probe, to: Listener.self, on: still)
    for number in 0..<3 { stage.hub[Listener.self].notify() { $0.log.record(number) } }
    let drain = stage.start { await $0.drain(within: .seconds(1)) }
    stage.advance(by: .seconds(1))
    #expect(drain.result?.subscribers.map(\.waiting) == [3])
    still.run()
    #expect(probe.log.history == [0, 1, 2])
  }

  @Test("an interceptor that hangs for one whose id was taken is named with that one")
  func hangsAfterTakeOver() {
    let gate = Gate()
    let stage = Stage {
      $0.interceptors = [
        Hook { call, next in
          if call.subscription.statistics.site == "old:1" { await gate.pass() }
          return await next()
        }
      ]
    }
    let (old, new) = (Probe("old"), Probe("new"))
    stage.hub.subscribe(old, to: Listener.self, id: "seat", fileID: "old", line: 1)
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()
    stage.hub.subscribe(new, to: Listener.self, id: "seat", fileID: "new", line: 2)
    stage.run()
    #expect(new.log.history == [1])
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(
      left?.description == "DelegationTests.Probe, subscribed at old:1: 1 running, 0 waiting")
    #expect(left?.ownWork == 0)
    stage.open(gate)
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(old.log.history == [])
    withExtendedLifetime(old) {}
  }
}

import Delegation
import Testing

@Suite("drain, what it leaves, and delayingDrain", .inTurn)
struct DrainTests {
  private let stage = Stage { $0.onIncident = { _ in } }

  @Test("at the deadline drain tells who has work left, and how much, in their order")
  func whoAndWhat() {
    let gate = Gate()
    let (busy, asked, idle) = (Probe("busy"), Probe("asked"), Probe("idle"))
    stage.hub.subscribe(asked, to: Listener.self, id: 7, fileID: "Shop/Cart.swift", line: 1)
    stage.hub.subscribe(idle, to: Listener.self, fileID: "Shop/Cart.swift", line: 2)
    stage.hub.subscribe(busy, to: Listener.self, priority: 1, fileID: "Shop/Quota.swift", line: 3)
    for number in 0..<4 {
      stage.hub[Listener.self].notify { probe in
        if probe.name == "busy" { await gate.pass() }
        probe.log.record(number)
      }
    }
    let votes = (0..<2).map { _ in
      stage.start { hub in
        await hub[Listener.self].vote { probe in
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
    #expect(left?.isEmpty == false && left?.subscribers.map(\.running) == [3, 2])
    #expect(left?.subscribers.map(\.waiting) == [3, 0])
    #expect(
      left?.description == """
        DelegationTests.Probe, subscribed at Shop/Quota.swift:3: 3 running, 3 waiting
        DelegationTests.Probe (7), subscribed at Shop/Cart.swift:1: 2 running, 0 waiting
        """)
    stage.open(gate)
    #expect(votes.map(\.result) == [true, true] && busy.log.history == [0, 1, 2, 3])
    let rest = stage.perform { await $0.drain(within: .seconds(5)) }
    #expect(rest?.isEmpty == true && rest?.description == "nothing left")
    #expect(stage.clock.sleepers == 0)
    withExtendedLifetime(idle) {}
  }

  @Test("to tell what is left counts what a limit will drop as dropped, and releases nothing")
  func untouched() async {
    // Nobody runs it, so no worker comes.
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let lifetimes = Lifetimes()
    hub.subscribe(Probe(), to: Listener.self, hold: .strongly, mailbox: .latest)
    for _ in 0..<5 {
      let tracked = lifetimes.make()
      hub[Listener.self].notify { _ in withExtendedLifetime(tracked) {} }
    }
    #expect(await hub.drain(within: .zero).subscribers.map(\.waiting) == [1])
    #expect(lifetimes.alive == 5)
    executor.run()
    #expect(lifetimes.alive == 0)
  }

  @Test("in a handler it returns what it did not wait for, and waits for the others")
  func withinHandlers() {
    let hub = stage.hub
    let (own, other, gate) = (Probe(), Probe(), Gate())
    hub.subscribe(own, to: Listener.self, id: "own")
    hub.subscribe(other, to: Bystander.self, id: "other")
    let left = Recorder<DelegateHub.Leftovers>()
    hub[Listener.self].notify { _ in
      hub[Bystander.self].notify { _ in await gate.pass() }
      left.record(await hub.drain())
      left.record(await hub[Listener.self].notifyAndWait { _ in }.left)
      left.record(await hub[Bystander.self].notifyAndWait { _ in }.left)
      _ = await hub[Bystander.self].vote { _ in
        left.record(await hub.drain())
        return true
      }
    }
    stage.run()
    #expect(left.history.isEmpty)
    stage.open(gate)
    #expect(
      left.history.map {
        $0.subscribers.map { "\($0.subscriber) \($0.running) \($0.waiting)" }.sorted()
      } == [
        ["DelegationTests.Probe (own) 1 0"], ["DelegationTests.Probe (own) 1 1"], [],
        ["DelegationTests.Probe (other) 1 0", "DelegationTests.Probe (own) 1 1"],
      ])
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
    withExtendedLifetime((own, other)) {}
  }

  @Test("a cancelled caller is told at once what is left, also of one that was removed")
  func cancelled() {
    let (start, gate) = (Gate(), Gate())
    let subscription = stage.hub.subscribe(Probe(), to: Listener.self, hold: .strongly)
    for _ in 0..<3 { stage.hub[Listener.self].notify { _ in await gate.pass() } }
    let late = stage.start { hub in
      await start.pass()
      return await hub.drain()
    }
    let drains = [nil, Duration.seconds(5)].map { duration in
      stage.start { await $0.drain(within: duration) }
    }
    for drain in drains {
      #expect(drain.result == nil)
      drain.cancel()
      stage.run()
      #expect(drain.result?.subscribers.map { [$0.running, $0.waiting] } == [[1, 2]])
    }
    #expect(stage.clock.sleepers == 0)
    subscription.cancel()
    late.cancel()
    stage.open(start)
    #expect(late.result?.subscribers.map { [$0.running, $0.waiting] } == [[1, 0]])
    stage.open(gate)
    #expect(stage.perform { await $0.drain(within: .zero).isEmpty } == true)
  }

  @Test("a question that an executor has not come to is left", arguments: [true, false])
  func question(isDecided: Bool) {
    let stuck = ManualExecutor()
    stage.hub.cast(1, on: stuck)
    stage.cast(1)
    let vote = stage.start { hub in
      await hub[Listener.self].vote(within: .seconds(1), absent: .abstains) { _ in true }
    }
    if isDecided { stage.advance(by: .seconds(1)) }
    #expect(vote.result == (isDecided ? true : nil))
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.isEmpty == false && left?.description == "the hub's own work: 1")
    // That is not its affair.
    #expect(
      stage.perform { await $0[Bystander.self].notifyAndWait { _ in } }?.left.isEmpty == true)
    stuck.run()
    stage.run()
    #expect(vote.result == true)
    #expect(stage.perform { await $0.drain(within: .zero) }?.description == "nothing left")
  }

  @Test("an incident that is being told is left")
  func incident() async {
    let blockade = Blockade()
    let hub = DelegateHub(
      .init(executor: ThreadPool(threads: 2), onIncident: { _ in blockade.enter() }))
    hub.cast(1)
    hub[Listener.self].notify { _ in throw Refusal() }
    await blockade.entry()
    #expect(await hub.drain(within: .zero).description.contains("the hub's own work: "))
    #expect(blockade.end())
    #expect(await hub.drain().isEmpty)
  }

  @Test("a drain waits for the body and for what it posts, or says that it is delayed")
  func delays() throws {
    let probes = stage.cast(1)
    let (gate, handling) = (Gate(), Gate())
    let body = stage.start { hub in
      await hub.delayingDrain {
        await gate.pass()
        hub[Listener.self].notify { probe in
          await handling.pass()
          probe.log.record(1)
        }
        return 7
      }
    }
    let drain = stage.start { hub in await hub.drain() }
    let timed = stage.start { hub in await hub.drain(within: .seconds(1)) }
    stage.advance(by: .seconds(1))
    let left = try #require(timed.result)
    #expect((left.isEmpty, left.subscribers.isEmpty, left.delays) == (false, true, 1))
    let site = "DelegationTests/DrainTests.swift:"
    #expect("\(left)".hasPrefix("delaying the drain: 1, begun at \(site)"))
    stage.open(gate)
    #expect(body.result == 7 && drain.result == nil)
    let rest = stage.perform { hub in await hub.drain(within: .zero) }
    #expect(rest?.subscribers.map(\.running) == [1] && rest?.delays == 0)
    stage.open(handling)
    #expect(drain.result?.isEmpty == true && probes[0].log.history == [1])
  }

  @Test("a drain from within the body, or from what it calls and awaits, waits for all else")
  func within() {
    let probes = stage.cast(1)
    let gate = Gate()
    let body = stage.start { hub in
      await hub.delayingDrain {
        hub[Listener.self].notify { probe in
          await gate.pass()
          probe.log.record(1)
        }
        return await hub.drain().description
      }
    }
    #expect(body.result == nil)
    stage.open(gate)
    #expect(body.result?.hasPrefix("delaying the drain: 1, begun at") == true)
    #expect(probes[0].log.history == [1])
    let asked = stage.perform { hub in
      await hub.delayingDrain {
        await hub[Listener.self].ask(combining: .first()) { [hub] _ in await hub.drain() }
      }
    }
    #expect(asked??.delays == 1 && asked??.subscribers.map(\.running) == [1])
    let doubled = stage.perform { hub in
      await hub.delayingDrain { await hub.delayingDrain { await hub.drain().delays } }
    }
    #expect(doubled == 2)
    let task = stage.perform { [executor = stage.executor] hub in
      await hub.delayingDrain {
        await Task(executorPreference: executor) { await hub.drain().delays }.value
      }
    }
    #expect(task == 1)
    // In a handler, it waits for neither.
    let drained = Recorder<DelegateHub.Leftovers>()
    stage.hub[Listener.self].notify { [hub = stage.hub] _ in
      drained.record(await hub.delayingDrain { await hub.drain() })
    }
    stage.run()
    #expect(drained.history.map(\.delays) == [1])
    #expect(drained.history.map { $0.subscribers.map(\.running) } == [[1]])
  }

  @Test("but for drains, a body waits for handlers that wait themselves, and those may drain")
  func strict() {
    let (bystander, gate, handler) = (Probe(), Gate(), Probe())
    stage.hub.subscribe(bystander, to: Bystander.self)
    let token = stage.hub.subscribe(handler, to: Listener.self)
    func start(
      _ wait: @escaping @Sendable (Delegates<any Listener>) async -> Bool
    ) -> Stage.Act<Bool> {
      stage.start { hub in await hub.delayingDrain { await wait(hub[Listener.self]) } }
    }
    let told = start { listeners in
      await listeners.notifyAndWait { _ in
        await listeners.hub[Bystander.self].notifyAndWait { [hub = listeners.hub] _ in
          await gate.pass()
          await hub.drain()
        }
        handler.log.record(1)
      }.isHandled
    }
    let ended = start { _ in await token.cancelAndWait(within: .seconds(1)).isEmpty }
    #expect(told.result == nil && ended.result == nil && handler.log.history == [])
    stage.open(gate)
    #expect(told.result == true && ended.result == true && handler.log.history == [1])
  }

  @Test("two bodies that drain go on; a task that one left behind waits for the next")
  func several() {
    let gates = [Gate(), Gate(), Gate()]
    let calls = (0..<2).map { _ in
      stage.start { hub in
        await hub.delayingDrain {
          await gates[0].pass()
          await hub.drain()
        }
      }
    }
    stage.open(gates[0])
    #expect(calls.allSatisfy { $0.result != nil })
    let events = Recorder<String>()
    _ = stage.perform { [executor = stage.executor] hub in
      await hub.delayingDrain {
        _ = Task(executorPreference: executor) {
          await gates[1].pass()
          await hub.drain()
          events.record("drained")
        }
      }
    }
    let next = stage.start { hub in
      await hub.delayingDrain {
        await gates[2].pass()
        events.record("ended")
      }
    }
    stage.open(gates[1])
    #expect(events.history == [])
    stage.open(gates[2])
    #expect(events.history == ["ended", "drained"] && next.result != nil)
  }

  @Test("what the body throws is passed on with its type")
  func errors() async {
    let hub = DelegateHub()
    do throws(Refusal) {
      try await hub.delayingDrain { () throws(Refusal) in throw Refusal(reason: "no") }
      Issue.record("it did not throw")
    } catch {
      #expect(error.reason == "no")
    }
    #expect(await hub.drain().isEmpty)
  }
}

import Synchronization
import Testing

@testable import Delegation

/// With everything on one executor that is driven by hand, a deadlock is a run that ends too soon.
@Suite("Guarantee 14: drain, from within handlers", .inTurn)
struct Guarantee14DrainWithinHandlersTests {
  private let executor = ManualExecutor()
  private let hub: DelegateHub
  private let listener = Probe("listener")
  private let bystander = Probe("bystander")

  init() {
    hub = DelegateHub(on: executor)
    hub.subscribe(listener, to: Listener.self)
    hub.subscribe(bystander, to: Bystander.self)
  }

  @Test("when a wait in a handler is over, nothing is left of it, though the handler goes on")
  func over() async {
    let waits = Recorder<Int>()
    hub[Listener.self].notify() { [hub] _ in
      await hub.drain()
      let worker = HandlerContext.current?.worker
      waits.record(
        WaitGraph.shared.withLock { $0.all.count { $0.context.worker === worker } })
    }
    executor.run()
    #expect(waits.history == [0])
  }

  /// How a handler calls `drain`.
  enum Way: CaseIterable {
    case itself, childTask, grandchildTask, taskGroup, unstructuredTask

    func drain(_ hub: DelegateHub, on executor: ManualExecutor) async {
      switch self {
      case .itself:
        await hub.drain()
      case .childTask:
        async let left = hub.drain()
        _ = await left
      case .grandchildTask:
        async let done: Void = {
          async let left = hub.drain()
          _ = await left
        }()
        await done
      case .taskGroup:
        await withTaskGroup { group in
          for _ in 0..<3 { group.addTask { _ = await hub.drain() } }
        }
      case .unstructuredTask:
        _ = await Task(executorPreference: executor) { await hub.drain() }.value
      }
    }
  }

  @Test("a notification's handler is not waited for", arguments: Way.allCases)
  func notification(way: Way) {
    let (hub, executor) = (hub, executor)
    hub[Listener.self].notify() { probe in
      await way.drain(hub, on: executor)
      probe.log.record(1)
    }
    hub[Listener.self].notify() { $0.log.record(2) }
    executor.run()
    #expect(listener.log.history == [1, 2])
  }

  @Test("an answer is not waited for", arguments: Way.allCases)
  func answer(way: Way) {
    let (hub, executor) = (hub, executor)
    let vote = executor.start {
      _ = await hub[Listener.self].vote() { probe in
        await way.drain(hub, on: executor)
        probe.log.record(1)
        return true
      }
    }
    #expect(vote.isOver)
    #expect(listener.log.history == [1])
  }

  @Test(
    "the handlers that await the present one's vote are not waited for",
    arguments: Way.allCases)
  func nested(way: Way) {
    let (hub, executor) = (hub, executor)
    hub[Listener.self].notify() { outer in
      _ = await hub[Bystander.self].vote() { middle in
        await hub[Bystander.self].vote() { inner in
          await way.drain(hub, on: executor)
          inner.log.record(1)
          return true
        }
      }
      outer.log.record(2)
    }
    executor.run()
    #expect(bystander.log.history == [1])
    #expect(listener.log.history == [2])
  }

  @Test("what others have to do is waited for", arguments: Way.allCases)
  func others(way: Way) {
    let (hub, executor) = (hub, executor)
    let gate = Gate()
    let events = Recorder<String>()
    hub[Listener.self].notify() { _ in
      hub[Bystander.self].notify() { _ in
        await gate.pass()
        events.record("bystander")
      }
      await way.drain(hub, on: executor)
      events.record("drained")
    }
    executor.run()
    #expect(events.history == [])
    gate.open()
    executor.run()
    #expect(events.history == ["bystander", "drained"])
  }

  @Test("handlers that drain at the same time do not wait for each other", arguments: Way.allCases)
  func atOnce(way: Way) {
    let (hub, executor) = (hub, executor)
    let gate = Gate()
    let more = Probe.many(3)
    for probe in more { hub.subscribe(probe, to: Listener.self) }
    hub[Listener.self].notify() { probe in
      await gate.pass()
      await way.drain(hub, on: executor)
      probe.log.record(1)
    }
    hub[Bystander.self].notify() { probe in
      await gate.pass()
      await way.drain(hub, on: executor)
      probe.log.record(2)
    }
    let vote = executor.start {
      _ = await hub[Listener.self].vote() { probe in
        await gate.pass()
        await way.drain(hub, on: executor)
        return true
      }
    }
    #expect(gate.arrived == 4 + 1 + 4)
    gate.open()
    executor.run()
    #expect(vote.isOver)
    #expect([listener, bystander].map(\.log.history) == [[1], [2]])
    #expect(more.map(\.log.history) == [[1], [1], [1]])
  }

  @Test("one that drains and one that waits for its end do not wait for each other")
  func drainAndCancelAndWait() {
    let hub = hub
    let gate = Gate()
    let drains = hub.subscribe(listener, to: Listener.self)
    hub[Listener.self].notify() { probe in
      await gate.pass()
      await hub.drain()
      probe.log.record(1)
    }
    hub[Bystander.self].notify() { probe in
      await gate.pass()
      await drains.cancelAndWait()
      probe.log.record(2)
    }
    executor.run()
    gate.open()
    executor.run()
    #expect([listener, bystander].map(\.log.history) == [[1], [2]])
  }

  @Test("two hubs whose handlers drain each other's hub do not wait for each other")
  func twoHubs() {
    let other = DelegateHub(on: executor)
    let gate = Gate()
    let hub = hub
    other.subscribe(bystander, to: Listener.self)
    hub[Listener.self].notify() { probe in
      await gate.pass()
      await other.drain()
      probe.log.record(1)
    }
    other[Listener.self].notify() { probe in
      await gate.pass()
      await hub.drain()
      probe.log.record(2)
    }
    executor.run()
    gate.open()
    executor.run()
    #expect([listener, bystander].map(\.log.history) == [[1], [2]])
  }

  @Test("a handler whose vote on another hub drains the first is not waited for")
  func throughAnotherHub() {
    let other = DelegateHub(on: executor)
    let hub = hub
    other.subscribe(bystander, to: Listener.self)
    hub[Listener.self].notify() { outer in
      _ = await other[Listener.self].vote() { inner in
        await hub.drain()
        inner.log.record(1)
        return true
      }
      outer.log.record(2)
    }
    executor.run()
    #expect([listener, bystander].map(\.log.history) == [[2], [1]])
  }

  @Test("a handler that drains another hub waits for what that one has to do")
  func anotherHub() {
    let other = DelegateHub(on: executor)
    let gate = Gate()
    let events = Recorder<String>()
    other.subscribe(bystander, to: Listener.self)
    other[Listener.self].notify() { _ in
      await gate.pass()
      events.record("bystander")
    }
    hub[Listener.self].notify() { _ in
      await other.drain()
      events.record("drained")
    }
    executor.run()
    #expect(events.history == [])
    gate.open()
    executor.run()
    #expect(events.history == ["bystander", "drained"])
  }

  @Test("one who drains from outside waits for a handler that drains from within")
  func outside() {
    let hub = hub
    let gate = Gate()
    let events = Recorder<String>()
    hub[Listener.self].notify() { _ in
      await hub.drain()
      await gate.pass()
      events.record("handled")
    }
    executor.run()
    let drain = executor.start {
      #expect(await hub.drain().isEmpty)
      events.record("drained")
    }
    #expect(!drain.isOver)
    gate.open()
    executor.run()
    #expect(events.history == ["handled", "drained"])
  }

  @Test("a task left behind by a handler that has returned waits for all")
  func leftBehind() {
    let hub = hub
    let executor = executor
    let (leaving, handling) = (Gate(), Gate())
    let events = Recorder<String>()
    hub[Listener.self].notify() { _ in
      Task(executorPreference: executor) {
        await leaving.pass()
        await hub.drain()
        events.record("drained")
      }
      await Task.yield()
    }
    hub[Listener.self].notify() { _ in
      await handling.pass()
      events.record("handled")
    }
    executor.run()
    leaving.open()
    executor.run()
    #expect(events.history == [])
    handling.open()
    executor.run()
    #expect(events.history == ["handled", "drained"])
  }

  @Test("a task left behind by a voter waits for the handler that asked it, which is another hub's")
  func leftBehindByVoter() {
    let (hub, executor) = (hub, executor)
    let other = DelegateHub(on: executor)
    let voters = Probe.many(2)
    for voter in voters { other.subscribe(voter, to: Bystander.self) }
    let (answering, handling) = (Gate(), Gate())
    let events = Recorder<String>()
    hub[Listener.self].notify() { _ in
      _ = await other[Bystander.self].vote() { voter in
        if voter.name == "1" {
          await answering.pass()
        } else {
          Task(executorPreference: executor) {
            await hub.drain()
            events.record("drained")
          }
          for _ in 0..<5 { await Task.yield() }
        }
        return true
      }
      events.record("asked")
    }
    hub[Bystander.self].notify() { _ in await handling.pass() }
    executor.run()
    // The voter has returned, so its task waits for the handler that asked it as well.
    handling.open()
    executor.run()
    #expect(events.history == [])
    answering.open()
    executor.run()
    #expect(events.history == ["asked", "drained"])
    withExtendedLifetime(voters) {}
  }
}

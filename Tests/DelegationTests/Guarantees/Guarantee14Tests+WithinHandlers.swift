import Delegation
import Testing

/// Drains from within handlers. With everything on one executor that is driven by hand, a deadlock is a run that ends
/// too soon.
extension Guarantee14Tests {
  /// How a handler waits.
  enum Way: CaseIterable {
    case itself, childTask, grandchildTask, taskGroup, unstructuredTask

    func callAsFunction(on executor: ManualExecutor, _ wait: @escaping @Sendable () async -> Void)
      async
    {
      switch self {
      case .itself: await wait()
      case .childTask:
        async let waited: Void = wait()
        await waited
      case .grandchildTask:
        async let waited: Void = {
          async let waited: Void = wait()
          await waited
        }()
        await waited
      case .taskGroup:
        await withTaskGroup { group in for _ in 0..<3 { group.addTask { await wait() } } }
      case .unstructuredTask: await Task(executorPreference: executor) { await wait() }.value
      }
    }
  }

  @Test(
    "it does not wait for who calls it, nor for who awaits its question", arguments: Way.allCases)
  func own(way: Way) {
    for hubs in 1...2 {
      for isVote in [false, true] {
        let (stage, probes) = (Stage(), Probe.many(2))
        let (hub, executor) = (stage.hub, stage.executor)
        let other = hubs == 1 ? hub : DelegateHub(on: executor)
        hub.subscribe(probes[0], to: Listener.self)
        other.subscribe(probes[1], to: Bystander.self)
        let handle: @Sendable (any Listener) async -> Bool = { outer in
          await way(on: executor) { await hub.drain() }
          _ = await other.bystanders.vote { middle in
            await other.bystanders.vote { inner in
              await way(on: executor) { await hub.drain() }
              inner.log.record(1)
              return true
            }
          }
          outer.log.record(2)
          return true
        }
        let vote = stage.start { isVote ? await $0.listeners.vote(handle) : true }
        if !isVote { hub.listeners.notify { _ = await handle($0) } }
        hub.listeners.notify { $0.log.record(3) }
        stage.run()
        #expect(vote.result == true && probes[1].log.history == [1])
        #expect(probes[0].log.history == [2, 3], "\(hubs) hubs")
        #expect(stage.isDrained)
      }
    }
  }

  @Test("it waits for what others have to do, in another hub as well", arguments: Way.allCases)
  func others(way: Way) {
    for hubs in 1...2 {
      let (stage, gate, events) = (Stage(), Gate(), Recorder<String>())
      let executor = stage.executor
      let other = hubs == 1 ? stage.hub : DelegateHub(on: executor)
      stage.hub.cast(1)
      other.subscribe(Probe("bystander"), to: Bystander.self, hold: .strongly)
      stage.listeners.notify { _ in
        other.bystanders.notify { _ in
          await gate.pass()
          events.record("bystander")
        }
        await way(on: executor) { await other.drain() }
        events.record("drained")
      }
      stage.run()
      #expect(events.history == [])
      stage.open(gate)
      #expect(events.history == ["bystander", "drained"])
    }
  }

  @Test("a task left behind by a voter waits for the handler that asked it, which is another hub's")
  func leftBehindByVoter() {
    let (hub, executor) = (stage.hub, stage.executor)
    let (other, answering, events) = (DelegateHub(on: executor), Gate(), Recorder<String>())
    let (handling, bystander) = (Gate(), Probe())
    other.cast(2)
    hub.cast(1)
    hub.subscribe(bystander, to: Bystander.self)
    hub.bystanders.notify { _ in await handling.pass() }
    hub.listeners.notify { _ in
      _ = await other.listeners.vote { voter in
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
    stage.run()
    // The voter has returned, so its task waits for the handler that asked it as well.
    stage.open(handling)
    #expect(events.history == [])
    stage.open(answering)
    #expect(events.history == ["asked", "drained"])
  }

  @Test("from a voter it waits for those beside it", arguments: Guarantee08Tests.sideBySide)
  func besideAVoter(reach: Reach) async {
    for count in [2, 3, 5] {
      for _ in rounds(10) {
        let (hub, events) = (DelegateHub(), Recorder<String>())
        hub.cast(count)
        await reach.call(hub) { probe in
          if probe.name == "0" {
            // At once: those behind it need not have begun.
            await hub.drain()
            events.record("drained")
          } else {
            await Task.yield()
            events.record("answered")
          }
        }
        #expect(events.history == Array(repeating: "answered", count: count - 1) + ["drained"])
      }
    }
  }
}

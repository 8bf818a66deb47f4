import Delegation
import Testing

/// Waiting for the handlers of what has ended: from outside, from handlers, and from tasks that these leave behind.
extension Guarantee02Tests {
  /// The calls of which several handlers may run on one subscriber.
  static let calls: [Reach] = [
    .vote, .voteWithin, .collect, .askInTurn, .pass, .notifyAsynchronously,
  ]

  @Test("it waits for the handlers of the same object's ended subscription, and of no other object")
  func subscribedAgain() {
    for reach in Reach.allCases where reach.isAsynchronous {
      let (stage, gate, probe) = (Stage(), Gate(), Probe())
      let first = stage.hub.subscribe(probe, to: Listener.self)
      let other = stage.hub.cast(1)[0]
      _ = stage.start { await reach.call($0) { _ in await gate.pass() } }
      first.cancel()
      let second = stage.hub.subscribe(probe, to: Listener.self)
      let wait = stage.start { _ in await second.cancelAndWait() }
      #expect(wait.result == nil, "\(reach)")
      stage.hub.unsubscribe(other)
      let wholly = stage.start { await $0.unsubscribeAndWait(probe) }
      #expect(wholly.result == nil)
      stage.open(gate)
      #expect(wait.result != nil && wholly.result != nil, "\(reach)")
    }
  }

  @Test("from the subscriber's own handler it waits for its other handlers, and not for that one")
  func ownHandler() {
    for isVote in [false, true] {
      let (stage, gate, events, probe) = (Stage(), Gate(), Recorder<String>(), Probe())
      let subscription = stage.hub.subscribe(probe, to: Listener.self)
      let vote = stage.start { hub in
        await hub.listeners.vote { _ in
          await gate.pass()
          events.record("answered")
          return true
        }
      }
      let wait: @Sendable (any Listener) async -> Bool = { _ in
        await Task.yield()
        // Its own handler is left, and no other one.
        let left = await subscription.cancelAndWait()
        events.record("waited: \(left.subscribers.map(\.running))")
        return true
      }
      let other = isVote ? stage.start { await $0.listeners.vote(wait) } : nil
      if !isVote { stage.listeners.notify { _ = await wait($0) } }
      stage.run()
      #expect(events.history == [])
      stage.open(gate)
      #expect(vote.result == true && other?.result ?? true)
      #expect(events.history == ["answered", "waited: [1]"])
    }
  }

  @Test("in a handler it does not wait for one that waits itself, and says that it is left")
  func chain() {
    let (gate, events, probes) = (Gate(), Recorder<String>(), ["a", "b", "c"].map { Probe($0) })
    var former: DelegateHub.Subscription?
    for probe in probes {
      let token = stage.hub.subscribe(probe, to: Listener.self)
      stage.listeners.notify { [former] other in
        if other !== probe { return }
        guard let former else { return await gate.pass() }
        let left = await former.cancelAndWait()
        events.record("\(probe.name): \(left.subscribers.map(\.running))")
      }
      stage.run()
      former = token
    }
    #expect(events.history == ["c: [1]"])
    stage.open(gate)
    #expect(events.history == ["c: [1]", "b: []"])
  }

  @Test(
    "a task that the handler starts is the handler, a detached one not", arguments: [false, true])
  func startedByTheHandler(isDetached: Bool) {
    let (events, probe) = (Recorder<String>(), Probe())
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    stage.listeners.notify { [executor = stage.executor] _ in
      let wait: @Sendable () async -> Void = {
        await subscription.cancelAndWait()
        events.record("waited")
      }
      if isDetached {
        Task.detached(executorPreference: executor, operation: wait)
      } else {
        Task(executorPreference: executor, operation: wait)
      }
      for _ in 0..<5 { await Task.yield() }
      events.record("ends")
    }
    stage.run()
    #expect(events.history == (isDetached ? ["ends", "waited"] : ["waited", "ends"]))
  }

  @Test("a task left behind waits for the handlers of other calls", arguments: calls)
  func leftBehind(first: Reach) {
    // One subscriber's notifications come one at a time: the second one would not begin.
    for second in Self.calls where first != .notifyAsynchronously || second != first {
      // Alone, a voter is asked in the caller's task; beside another, in one of its own.
      for others in 0...1 {
        let (stage, events, answering, probe) = (Stage(), Recorder<String>(), Gate(), Probe("own"))
        let subscription = stage.hub.subscribe(probe, to: Listener.self)
        stage.hub.cast(others)
        let long = stage.start { hub in
          await first.call(hub) { probe in
            guard probe.name == "own" else { return }
            await answering.pass()
            events.record("answered")
          }
        }
        let short = stage.start { [executor = stage.executor] hub in
          await second.call(hub) { probe in
            guard probe.name == "own" else { return }
            Task(executorPreference: executor) {
              await subscription.cancelAndWait()
              events.record("waited")
            }
            // The task that is left behind comes to wait before this handler has returned.
            for _ in 0..<5 { await Task.yield() }
            events.record("left")
          }
        }
        #expect(short.result != nil && events.history == ["left"], "\(second), \(others)")
        stage.open(answering)
        #expect(long.result != nil)
        #expect(events.history == ["left", "answered", "waited"], "\(second), \(others)")
      }
    }
  }

  @Test("once it has returned, amid a storm, nothing runs on the subscriber any more")
  func storm() async {
    for _ in rounds(30) {
      let (hub, violations) = (DelegateHub(), Recorder<String>())
      let freed = (0..<8).map { _ in Gate() }
      let subscriptions = Probe.many(8).map {
        hub.subscribe($0, to: Listener.self, hold: .strongly)
      }
      let check: @Sendable (any Listener, String) -> Void = { probe, moment in
        if freed[Int(probe.name)!].arrived > 0 { violations.record("\(moment) of \(probe.name)") }
      }
      let handler: @Sendable (any Listener) async -> Bool = { probe in
        check(probe, "start")
        await Task.yield()
        check(probe, "end")
        return true
      }
      await withTaskGroup { group in
        group.addTask {
          for _ in 0..<20 {
            hub.listeners.notify { check($0, "call") }
            hub.listeners.notify { _ = await handler($0) }
            await hub.listeners.forEach { _ = await handler($0) }
          }
        }
        group.addTask { for _ in 0..<20 { _ = await hub.listeners.vote(handler) } }
        for (subscription, gate) in zip(subscriptions, freed) {
          group.addTask {
            await subscription.cancelAndWait()
            gate.arrive()
          }
        }
      }
      await hub.drain()
      #expect(violations.history == [])
    }
  }
}

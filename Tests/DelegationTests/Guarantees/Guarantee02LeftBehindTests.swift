import Testing

@testable import Delegation

/// With everything on one executor that is driven by hand.
@Suite("Guarantee 2: removal, waited for by a task that a handler leaves behind", .inTurn)
struct Guarantee02LeftBehindTests {
  /// The calls whose handlers run for one subscription at the same time.
  private static let calls: [Reach] = [
    .vote, .voteWithin, .collect, .askInTurn, .pass, .notifyAsynchronously,
  ]

  private let stage = Stage()

  @Test(
    "a task that the handler starts does not wait for the handler, and a detached one does",
    arguments: [false, true])
  func startedByTheHandler(isDetached: Bool) {
    let events = Recorder<String>()
    let hub = DelegateHub { [stage] configuration in
      configuration.executor = stage.executor
    }
    let probe = Probe()
    let subscription = hub.subscribe(probe, to: Listener.self)
    hub[Listener.self].notify() { [executor = stage.executor] _ in
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
    stage.executor.run()
    #expect(events.history == (isDetached ? ["ends", "waited"] : ["waited", "ends"]))
    withExtendedLifetime(probe) {}
  }

  @Test(
    "it returns when another call's handler has ended, though its own ended while it waited",
    arguments: calls, calls)
  func another(first: Reach, second: Reach) {
    // One subscriber's notifications come one at a time: the second one would not begin.
    if first == .notifyAsynchronously, second == .notifyAsynchronously { return }
    // Alone, a voter is asked in the caller's task; beside another, in one of its own.
    for others in 0...1 {
      let events = Recorder<String>()
      let answering = Gate()
      let hub = DelegateHub { [stage] configuration in
        configuration.executor = stage.executor
        configuration.clock = stage.clock
      }
      let probe = Probe("own")
      let subscription = hub.subscribe(probe, to: Listener.self)
      let more = Probe.many(others)
      for probe in more { hub.subscribe(probe, to: Listener.self) }
      let long = stage.executor.start {
        await first.call(hub) { probe in
          guard probe.name == "own" else { return }
          await answering.pass()
          events.record("answered")
        }
      }
      let short = stage.executor.start { [executor = stage.executor] in
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
      #expect(short.isOver)
      #expect(events.history == ["left"], "\(others) others")
      stage.open(answering)
      #expect(long.isOver)
      #expect(events.history == ["left", "answered", "waited"], "\(others) others")
      withExtendedLifetime((probe, more)) {}
    }
  }

  @Test(
    "it returns when its own handler has ended, if no other runs", arguments: calls)
  func own(reach: Reach) {
    let events = Recorder<String>()
    let probe = Probe()
    let subscription = stage.hub.subscribe(probe, to: Listener.self)
    let call = stage.executor.start { [hub = stage.hub, executor = stage.executor] in
      await reach.call(hub) { _ in
        Task(executorPreference: executor) {
          await subscription.cancelAndWait()
          events.record("waited")
        }
        for _ in 0..<5 { await Task.yield() }
        events.record("left")
      }
    }
    #expect(call.isOver)
    // It does not wait for the handler that it was begun in, which may wait for it in turn.
    #expect(events.history == ["waited", "left"])
    withExtendedLifetime(probe) {}
  }
}

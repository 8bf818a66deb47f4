import Testing

@testable import Delegation

/// In processes of their own: workers that begin within each other use up the stack.
@Suite("Workers on an executor that runs a job at once, before `enqueue` returns", .inTurn)
struct EagerExecutorTests {
  /// More than the stack has room for, if each began within the one before.
  private static let count = 20_000

  @Test("all are asked, in order, and handle what is posted, if it is the hub's")
  func ofTheHub() async {
    await #expect(processExitsWith: .success) { await EagerExecutorTests.reachAll {} }
  }

  @Test("so it is if each handler cancels the task that it runs in")
  func cancelled() async {
    await #expect(processExitsWith: .success) {
      await EagerExecutorTests.reachAll { withUnsafeCurrentTask { $0?.cancel() } }
    }
  }

  /// Asks and tells subscribers of a hub on such an executor.
  ///
  /// - Parameter handle: what each handler does, too.
  private static func reachAll(_ handle: @escaping @Sendable () -> Void) async {
    let hub = DelegateHub(on: EagerExecutor())
    let probes = Probe.many(count)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let asked = Recorder<String>()
    _ = await hub.vote(Listener.self, within: .seconds(3_600), absent: .abstains) { probe in
      asked.record(probe.name)
      handle()
      return true
    }
    precondition(asked.history == probes.map(\.name), "not all were asked in order")
    let replies = await hub.collect(Listener.self) { probe in
      handle()
      return probe.name
    }
    precondition(replies.count == probes.count, "not all have replied")
    await hub.notifyAndWait(Listener.self) { probe in
      probe.log.record(1)
      handle()
    }
    precondition(probes.allSatisfy { $0.log.history == [1] }, "not all were told")
  }

  @Test("so it is if it is the subscribers' own")
  func ofTheSubscribers() async {
    await #expect(processExitsWith: .success) {
      let (hub, executor) = (DelegateHub(), EagerExecutor())
      let probes = Probe.many(EagerExecutorTests.count)
      for probe in probes { hub.subscribe(probe, to: Listener.self, on: executor) }
      hub.notify(Listener.self) { $0.log.record(1) }
      hub.notify(Listener.self) { $0.log.record(2) }
      let replies = await hub.collect(Listener.self) { $0.name }
      precondition(replies.count == probes.count, "not all have replied")
      await hub.drain()
      precondition(probes.allSatisfy { $0.log.history == [1, 2] }, "not all were told")
    }
  }

  @Test("a handler in turn, on its subscriber's executor, may end while it is cancelled there")
  func cancelledInTurn() async {
    await #expect(processExitsWith: .success) {
      let (executor, clock) = (EagerExecutor(), ManualClock())
      let probe = Probe("one")
      for hub in [DelegateHub(), DelegateHub(on: executor)] {
        hub.subscribe(probe, to: Listener.self, on: executor)
        let requests = [
          Task {
            await hub.askInTurn(Listener.self) { _ -> Int? in
              try? await clock.sleep(until: .init(offset: .seconds(1)))
              return nil
            }
          },
          Task {
            await hub.askInTurn(
              Listener.self, within: .seconds(3_600), absent: .abstains
            ) { _ -> Int? in
              try? await clock.sleep(until: .init(offset: .seconds(1)))
              return nil
            }
          },
        ]
        await clock.waitForSleepers(2)
        await Task(executorPreference: executor) { for one in requests { one.cancel() } }.value
        for one in requests {
          let found = await one.value
          precondition(found == nil, "somebody was found")
        }
      }
    }
  }

  @Test("a handler in turn, on its subscriber's executor, begins cancelled if the caller is")
  func cancelledBefore() async {
    let executor = EagerExecutor()
    let hub = DelegateHub(on: executor)
    let probe = Probe("one")
    hub.subscribe(probe, to: Listener.self, on: executor)
    let isCancelled = await Task(executorPreference: executor) {
      withUnsafeCurrentTask { $0?.cancel() }
      return await hub.askInTurn(Listener.self) { _ -> Bool? in Task.isCancelled }
    }.value
    #expect(isCancelled == true)
    withExtendedLifetime(probe) {}
  }

  @Test("one that suspends holds up nobody, and all who are suspended are cancelled")
  func suspended() async {
    await #expect(processExitsWith: .success) {
      let hub = DelegateHub(on: EagerExecutor())
      let probes = Probe.many(EagerExecutorTests.count)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      let (gate, cancelled) = (Gate(), Recorder<String>())
      let vote = Task {
        await hub.vote(Listener.self, within: .seconds(3_600), absent: .abstains) { probe in
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            cancelled.record(probe.name)
          }
          return true
        }
      }
      await gate.arrivals(probes.count)
      vote.cancel()
      _ = await cancelled.history(of: probes.count)
      gate.open()
      let outcome = await vote.value
      precondition(outcome, "the vote was denied")
      withExtendedLifetime(probes) {}
    }
  }
}

import Testing

@testable import Delegation

@Suite("Handlers that wait for each other through a take-over", .inTurn)
struct TakeOverWaitTests {
  @Test("Both go on, whichever was the first to wait", arguments: [true, false])
  func takeOver(callerIsFirst: Bool) {
    let stage = Stage()
    let hub = stage.hub
    let other = DelegateHub(on: stage.executor)
    let (former, successor, caller) = (Probe("former"), Probe("successor"), Probe("caller"))
    let waited = other.subscribe(caller, to: Listener.self)
    let ended = hub.subscribe(successor, to: Listener.self)
    let (mayCancel, mayCall, mayEnd) = (Gate(), Gate(), Gate())
    let done = Recorder<String>()
    // The successor's handler of an earlier subscription is going to wait for the caller's.
    hub[Listener.self].notify() { _ in
      await mayCancel.pass()
      await waited.cancelAndWait()
      done.record("successor")
    }
    stage.run()
    ended.cancel()
    hub.subscribe(former, to: Listener.self, id: 1)
    hub[Listener.self].notify() { _ in await mayEnd.pass() }
    // And the caller's for whoever has the id.
    other[Listener.self].notify() { _ in
      await mayCall.pass()
      await hub[Listener.self].notifyAndWait() { done.record("told \($0.name)") }
      done.record("caller")
    }
    stage.run()
    for gate in callerIsFirst ? [mayCall, mayCancel] : [mayCancel, mayCall] { stage.open(gate) }
    #expect(done.history == [])
    hub.subscribe(successor, to: Listener.self, id: 1)
    stage.open(mayEnd)
    #expect(done.history.sorted() == ["caller", "successor", "told successor"])
    #expect(stage.perform { await $0.drain() }?.isEmpty == true)
    #expect(stage.perform { _ in await other.drain() }?.isEmpty == true)
    withExtendedLifetime((former, successor, caller)) {}
  }

  @Test(
    "Waits are counted anew for a notification that is taken over, from the first that waits for it on",
    arguments: [false, true])
  func countedAnew(isAwaited: Bool) {
    let expected = [[1, 1, 1], isAwaited ? [1, 2, 2] : [1, 1, 1]]
    // Waits are the whole process's: another test's that is taken over has all later ones counted anew, these as well.
    let isSeen = (0..<100).contains { _ in counts(isAwaited: isAwaited) == expected }
    #expect(isSeen)
  }

  /// How often each of three waits was counted before a take-over, and after it.
  private func counts(isAwaited: Bool) -> [[Int]] {
    let scenes = (0..<3).map { _ in HandlerScene([.init(node: 0)], subscribers: 1) }
    let (board, former, successor) = (Switchboard(), Nobody(), Nobody())
    defer { board.clear() }
    _ = Structures.subscribe(former, in: board, identity: Identity("a"))
    let receipt = Receipt()
    var content = Structures.content()
    content.receipt = receipt
    board.post(content, to: Structures.key)
    var goals = scenes.map { WaitGoal.rest(of: $0.board.activity) }
    if isAwaited { goals[1] = .passing(of: receipt) }
    let counts = goals.map { _ in Count() }
    let waiters = counts.map { count in
      Waiter {
        count.add(1)
        return 0
      }
    }
    let waits = zip(goals, scenes).map { goal, scene in
      WaitGraph.shared.withLock { $0.add(goal, in: scene.contexts[0]) }
    }
    for (goal, waiter) in zip(goals, waiters) { goal.update { $0.add(waiter) } }
    let before = counts.map(\.value)
    _ = Structures.subscribe(successor, in: board, identity: Identity("a"))
    let after = counts.map(\.value)
    for (goal, waiter) in zip(goals, waiters) { goal.update { $0.remove(waiter) } }
    for wait in waits.compactMap(\.self) { WaitGraph.shared.withLock { $0.remove(wait) } }
    withExtendedLifetime(former) {}
    return [before, after]
  }
}

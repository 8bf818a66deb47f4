import Testing

@testable import Delegation

@Suite("Caller: what those who are asked from a handler have to do with it", .inTurn)
struct AskedFromHandlersTests {
  private let executor = ManualExecutor()

  @Test("a task that an answer leaves behind keeps nothing of who asked", arguments: Reach.asking)
  func keepsNothing(reach: Reach) {
    let gate = Gate()
    let inner = DelegateHub(on: executor)
    let asked = Probe("asked")
    inner.subscribe(asked, to: Listener.self)
    let obituary = ask(inner, by: reach) { [executor] in
      Task(executorPreference: executor) { await gate.pass() }
    }
    #expect(gate.arrived == 1)
    #expect(obituary.isDead)
    gate.open()
    executor.run()
  }

  /// Asks from a handler of a hub that is then released, and gives the handler's subscription.
  private func ask(
    _ inner: DelegateHub, by reach: Reach, _ answer: @escaping @Sendable () -> Void
  ) -> Obituary {
    let outer = DelegateHub(on: executor)
    let asking = Probe("asking")
    let subscription = outer.subscribe(asking, to: Listener.self)
    outer[Listener.self].notify() { _ in
      await reach(inner, suspending: false) { _ in answer() }
    }
    executor.run()
    return Obituary(of: subscription.node)
  }

  @Test("when the question is decided, who answers late waits for who asked as everybody does")
  func lateAnswer() {
    let hub = DelegateHub(on: executor)
    let (late, asking) = (Gate(), Gate())
    let events = Recorder<String>()
    let asker = Probe("asker")
    let voters = Probe.many(2)
    let subscription = hub.subscribe(asker, to: Bystander.self)
    for voter in voters { hub.subscribe(voter, to: Listener.self) }
    hub[Bystander.self].notify() { _ in
      let isAgreed = await hub[Listener.self].vote() { voter in
        if voter.name == "1" { return false }
        await late.pass()
        await subscription.cancelAndWait()
        events.record("the late one has waited")
        return true
      }
      await asking.pass()
      events.record(isAgreed ? "agreed" : "denied")
    }
    executor.run()
    late.open()
    executor.run()
    #expect(events.history == [])
    asking.open()
    executor.run()
    #expect(events.history == ["denied", "the late one has waited"])
    withExtendedLifetime((asker, voters)) {}
  }

  @Test("as long as the question is not decided, they do not wait for who asked")
  func answer() {
    let hub = DelegateHub(on: executor)
    let events = Recorder<String>()
    let (asker, voter) = (Probe("asker"), Probe("voter"))
    let subscription = hub.subscribe(asker, to: Bystander.self)
    hub.subscribe(voter, to: Listener.self)
    hub[Bystander.self].notify() { _ in
      _ = await hub[Listener.self].vote() { _ in
        await subscription.cancelAndWait()
        events.record("answered")
        return true
      }
      events.record("asked")
    }
    executor.run()
    #expect(events.history == ["answered", "asked"])
    withExtendedLifetime((asker, voter)) {}
  }

  @Test("how deep a question is asked is counted from the outermost handler")
  func depth() {
    let board = Switchboard()
    defer { board.clear() }
    let subscriber = Nobody()
    let nodes = [Structures.subscribe(subscriber, in: board)]
    var caller = Caller.present
    #expect(caller.awaiting == nil)
    let outermost = caller.depth
    for level in 1...3 {
      let worker = Worker(activity: board.activity, caller: caller)
      let context = HandlerContext(worker: worker, call: worker.begin(), node: nodes[0])
      caller = HandlerContext.binding.withValue(context) { Caller.present }
      #expect(caller.awaiting?.node === nodes[0])
      #expect(caller.depth == outermost + level)
    }
    let last = caller
    last.clear()
    #expect(last.awaiting == nil)
  }

  @Test(
    "each of those whom one worker asks may end its own subscription and wait",
    arguments: [false, true])
  func ownEnd(isInTurn: Bool) {
    let hub = DelegateHub(on: executor)
    let probes = Probe.many(3)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    let call = executor.start {
      let answer: @Sendable (any Listener) async -> Int? = { probe in
        await subscriptions[Int(probe.name) ?? 0].cancelAndWait()
        return nil
      }
      if isInTurn {
        #expect(await hub[Listener.self].askInTurn(answer) == nil)
      } else {
        #expect(await hub[Listener.self].ask(combining: .all(), answer) == [nil, nil, nil])
      }
    }
    #expect(call.isOver)
    #expect(subscriptions.map(\.isActive) == [false, false, false])
    withExtendedLifetime(probes) {}
  }
}

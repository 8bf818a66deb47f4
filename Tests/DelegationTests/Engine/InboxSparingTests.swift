import Testing

@testable import Delegation

@Suite("Inbox: what it does not do twice, nor for nothing", .inTurn)
struct InboxSparingTests {
  /// Keys that together use every bit of the inbox's mark of who may be reached.
  private let keys = (0..<2000).map { _ in Nobody() }

  @Test("a new inbox reaches nobody, has nothing to hand over, and nothing was posted")
  func new() {
    let inbox = Inbox()
    defer { inbox.clear() }
    #expect(!keys.contains { inbox.mayReach(ObjectIdentifier($0)) })
    #expect(!inbox.hasChanges)
    #expect(inbox.totals(of: Topic(Nobody.self)) == (0, 0))
  }

  @Test("every protocol that has subscribers may be reached")
  func interest() {
    for key in keys.map({ ObjectIdentifier($0) }) {
      let inbox = Inbox()
      inbox.state.withLock { inbox.noteInterest(true, in: key, &$0) }
      #expect(inbox.mayReach(key))
    }
  }

  @Test("who has lost the last subscriber is not reached for, and those who have one are")
  func loss() {
    for closesAll in [false, true] {
      let inbox = Inbox()
      defer { inbox.clear() }
      let (subscriber, other) = (Nobody(), Nobody())
      let node = Structures.subscribe(subscriber, in: inbox)
      let others = Structures.subscribe(other, to: Int.self, in: inbox)
      if closesAll {
        inbox.terminateAll(of: Structures.key)
      } else {
        node.terminate(as: .cancelled)
      }
      #expect(inbox.mayReach(Structures.key) == shareMark(Nobody.self, Int.self))
      #expect(inbox.mayReach(ObjectIdentifier(Int.self)))
      others.terminate(as: .cancelled)
      #expect(!keys.contains { inbox.mayReach(ObjectIdentifier($0)) })
    }
  }

  /// Whether two protocols cannot be told apart without the lock.
  private func shareMark(_ one: Any.Type, _ other: Any.Type) -> Bool {
    let inbox = Inbox()
    inbox.state.withLock { inbox.noteInterest(true, in: ObjectIdentifier(one), &$0) }
    return inbox.mayReach(ObjectIdentifier(other))
  }

  @Test("what was posted to nobody wakes nobody")
  func nobody() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let wakes = Wakes(of: inbox)
    inbox.post(Structures.content(), to: Structures.key)
    let subscriber = Nobody()
    Structures.subscribe(subscriber, in: inbox).terminate(as: .cancelled)
    inbox.post(Structures.content(), to: Structures.key)
    #expect(wakes.count == 0)
    #expect(inbox.activity.workers.value == 0)
  }

  @Test("what was handed over is not looked at again")
  func handedOver() {
    let inbox = Inbox()
    let subscriber = Nobody()
    let node = Structures.subscribe(subscriber, in: inbox)
    #expect(inbox.hasChanges)
    #expect(inbox.takeUpdates(asWake: false).changes.count == 1)
    #expect(!inbox.hasChanges)
    #expect(inbox.state.withLock { $0.changed.isEmpty })
    node.terminate(as: .cancelled)
    #expect(inbox.hasChanges)
    #expect(inbox.takeUpdates(asWake: false).changes.map(\.terminated) == [1])
    #expect(inbox.takeUpdates(asWake: false).changes.isEmpty)
    _ = Structures.subscribe(subscriber, in: inbox)
    _ = inbox.takeUpdates(asWake: false)
    inbox.terminateAll(of: Structures.key)
    #expect(inbox.takeUpdates(asWake: false).changes.map(\.terminated) == [1])
    _ = Structures.subscribe(subscriber, in: inbox)
    inbox.clear()
    #expect(!inbox.hasChanges)
  }

  @Test("a search for the dead is handed over once, and only to the wake")
  func sweep() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscribers = (0..<512).map { _ in Nobody() }
    for subscriber in subscribers { _ = Structures.subscribe(subscriber, in: inbox) }
    #expect(inbox.takeUpdates(asWake: false).pendingWork.sweeps.isEmpty)
    #expect(inbox.takeUpdates(asWake: true).pendingWork.sweeps.count == 1)
    #expect(inbox.takeUpdates(asWake: true).pendingWork.sweeps.isEmpty)
  }

  @Test("a wake is sent before what a subscription leaves is released, which may wait for it")
  func wakeFirst() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let wakes = Wakes(of: inbox)
    let seen = Recorder<Int>()
    let subscriber = Nobody()
    for _ in 0..<256 {
      inbox.subscribe(
        SubscriptionRequest(
          object: subscriber, type: Nobody.self,
          options: SubscriptionOptions(
            of: DeathNotice { seen.record(wakes.count) }, hold: .strongly),
          priority: 0, site: Site(file: #fileID, line: #line)),
        reference: WeakReference(subscriber, object: subscriber), to: Nobody.self
      ).terminate(as: .cancelled)
    }
    #expect(seen.history == Array(repeating: 0, count: 255) + [1])
  }

  @Test("a wake that comes after the hub's end is counted off")
  func afterTheHub() throws {
    var hub: DelegateHub? = DelegateHub()
    let inbox = try #require(hub?.inbox)
    hub = nil
    let subscriber = Nobody()
    _ = Structures.subscribe(subscriber, in: inbox)
    inbox.post(Structures.content(), to: Structures.key)
    #expect(inbox.activity.workers.value == 0)
    inbox.clear()
  }

  @Test("whoever looks in before a wake has come takes nothing of what the wake is to do")
  func lookingIn() {
    for isStatistics in [false, true] {
      let stage = Stage()
      let probes = stage.cast(2)
      // The look stands in line before the wake.
      Task(executorPreference: stage.executor) { [hub = stage.hub] in
        if isStatistics {
          _ = await hub.statistics()
        } else {
          _ = await hub.subscriberCount(of: Listener.self)
        }
      }
      stage.hub.notify(Listener.self) { $0.log.record(1) }
      stage.run()
      #expect(probes.map(\.log.history) == [[1], [1]])
      #expect(stage.hub.inbox.activity.workers.value == 0)
    }
  }

  @Test("when the last wait is over, nobody tells of ends any more")
  func announcing() async {
    let hub = DelegateHub()
    let gate = Gate()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    hub.notify(Listener.self) { _ in await gate.pass() }
    let first = Task { await hub.drain() }
    await gate.arrivals()
    while !hub.inbox.activity.workers.isAwaited { await Task.yield() }
    gate.open()
    _ = await first.value
    #expect(hub.inbox.activity.workers.isAwaited == false)
  }

  @Test("as long as nobody waits, nothing takes the lock that all hubs share")
  func unawaited() {
    let stage = Stage()
    let probes = stage.cast(2)
    let removed = Probe("removed")
    let subscription = stage.hub.subscribe(removed, to: Listener.self)
    let gate = Gate()
    let vote = WaitGraph.shared.withLock { _ in
      stage.hub.notify(Listener.self) { _ in await gate.pass() }
      let vote = stage.start { hub in
        await hub.vote(Listener.self) { _ in
          await gate.pass()
          return true
        }
      }
      subscription.cancel()
      stage.open(gate)
      stage.hub.notify(Listener.self) { $0.log.record(1) }
      stage.run()
      return vote
    }
    #expect(vote.result == true)
    #expect(probes.map(\.log.history) == [[1], [1]])
    withExtendedLifetime(removed) {}
  }

  @Test("it goes with its hub, whatever nobody has looked at")
  func released() {
    var hub: DelegateHub? = DelegateHub()
    let probe = Probe()
    hub?.subscribe(probe, to: Listener.self)
    guard let obituary = (hub?.inbox).map(Obituary.init(of:)) else { return }
    hub = nil
    #expect(obituary.isDead)
  }
}

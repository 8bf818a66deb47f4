import Testing

@testable import Delegation

@Suite("Subscriptions that end together", .inTurn)
struct TerminatingTogetherTests {
  @Test("all are accounted for before any of their subscribers dies")
  func accounts() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let probes = Probe.many(20)
    let subscriptions = probes.map { hub.subscribe($0, to: Listener.self) }
    let seen = Recorder<[Int]>()
    var mortal: Probe? = Probe("mortal") {
      seen.record(subscriptions.map { $0.node.account.cancelled })
    }
    if let mortal { hub.subscribe(mortal, to: Listener.self, hold: .strongly) }
    mortal = nil
    for _ in 0..<5 { hub.notify(Listener.self) { _ in } }
    hub.unsubscribeAll(from: Listener.self)
    #expect(seen.history == [Array(repeating: 5, count: 20)])
    executor.run()
  }

  @Test(
    "if the actor was told before they were accounted for, it is told again",
    arguments: [TopicIndex.smallestSweep - 1, TopicIndex.smallestSweep])
  func review(count: Int) {
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscribers = (0..<count).map { _ in Nobody() }
    let nodes = subscribers.map { Structures.subscribe($0, in: inbox) }
    // An actor that is there at once.
    let finished = Recorder<Int>()
    inbox.setWaker { [weak inbox] in
      guard let inbox, inbox.wake.claim() else { return }
      _ = inbox.takeUpdates(asWake: true)
      finished.record(nodes.count(where: \.isIdle))
    }
    inbox.terminateAll()
    // Fewer may wait until the next call.
    #expect(finished.history == (count < TopicIndex.smallestSweep ? [0] : [0, count]))
  }

  @Test("after a peak, the dead are looked for at as small a population as before it")
  func peak() {
    let inbox = Inbox()
    defer { inbox.clear() }
    var peak = (0..<10_000).map { _ in Nobody() }
    for subscriber in peak {
      _ = Structures.subscribe(subscriber, in: inbox)
      sweep(inbox)
    }
    inbox.terminateAll()
    peak = []
    #expect(!sweep(inbox))
    let few = (0..<TopicIndex.smallestSweep).map { _ in Nobody() }
    let sweeps = few.map { subscriber in
      _ = Structures.subscribe(subscriber, in: inbox)
      return sweep(inbox)
    }
    #expect(sweeps.last == true)
    #expect(sweeps.count { $0 } == 1)
  }

  /// Does what the actor does for a sweep that is due.
  ///
  /// - Returns: whether one was.
  @discardableResult
  private func sweep(_ inbox: Inbox) -> Bool {
    let updates = inbox.takeUpdates(asWake: true)
    for topic in updates.pendingWork.sweeps { inbox.didSweep(topic) }
    return !updates.pendingWork.sweeps.isEmpty
  }
}

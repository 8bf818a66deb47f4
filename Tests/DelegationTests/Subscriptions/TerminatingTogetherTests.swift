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
    for _ in 0..<5 { hub[Listener.self].notify() { _ in } }
    hub.unsubscribeAll(from: Listener.self)
    #expect(seen.history == [Array(repeating: 5, count: 20)])
    executor.run()
  }

  @Test("after a peak, the dead are looked for at as small a population as before it")
  func peak() {
    let board = Switchboard()
    defer { board.clear() }
    var peak = (0..<10_000).map { _ in Nobody() }
    for subscriber in peak {
      _ = Structures.subscribe(subscriber, in: board)
      sweep(board)
    }
    board.terminateAll()
    peak = []
    #expect(!sweep(board))
    let few = (0..<TopicIndex.smallestSweep).map { _ in Nobody() }
    let sweeps = few.map { subscriber in
      _ = Structures.subscribe(subscriber, in: board)
      return sweep(board)
    }
    #expect(sweeps.last == true)
    #expect(sweeps.count { $0 } == 1)
  }

  /// Ends the sweep that is due.
  ///
  /// - Returns: whether one was.
  @discardableResult
  private func sweep(_ board: Switchboard) -> Bool {
    guard board.takeSweeps() > 0 else { return false }
    board.topic().state.withLock { $0.didSweep() }
    return true
  }
}

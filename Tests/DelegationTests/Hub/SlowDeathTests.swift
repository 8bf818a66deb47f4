import Foundation
import Testing

@testable import Delegation

@Suite("A deinit of the user's that takes long", .inTurn)
struct SlowDeathTests {
  /// For threads that are blocked: what they take is not taken from other tests.
  private static let pool = ThreadPool(threads: 8)

  private let hub = DelegateHub(.init(executor: pool, onIncident: { _ in }))
  private let stuck = ManualExecutor()
  private let blockade = Blockade()

  /// Posts a notification whose end blocks a thread.
  private func post(to hub: DelegateHub) {
    let notice = DeathNotice { [blockade] in blockade.enter() }
    hub[Listener.self].notify() { _ in withExtendedLifetime(notice) {} }
  }

  @Test("What one removed subscriber had waiting holds up no wait for others removed with it")
  func removedTogether() async {
    let (slow, others) = (Probe("slow"), Probe.many(5))
    hub.subscribe(slow, to: Listener.self, on: stuck)
    post(to: hub)
    let subscriptions = others.map { hub.subscribe($0, to: Listener.self, on: stuck) }
    let (hasReturned, areRemoved) = (Gate(), Gate())
    Task { [hub] in
      await hub[Listener.self].notifyAndWait() { _ in }
      hasReturned.arrive()
    }
    while subscriptions[0].statistics.counts.waiting == 0 { await Task.yield() }
    Thread { [hub] in
      hub.unsubscribeAll(from: Listener.self)
      areRemoved.arrive()
    }.start()
    await blockade.entry()
    await hasReturned.arrivals()
    #expect(blockade.end(), "the caller waited for the deinit")
    await areRemoved.arrivals()
    stuck.run()
    withExtendedLifetime((slow, others)) {}
  }

  @Test(
    "A subscriber that dies of its first handler, and takes long, is not told to be unheard",
    arguments: [true, false])
  func unheard(suspends: Bool) async {
    let incidents = Recorder<DelegateHub.Incident>()
    let hub = DelegateHub(.init(executor: Self.pool, onIncident: { incidents.record($0) }))
    let (handling, gate) = (Blockade(), Gate())
    var probe: Probe? = Probe(onDeath: { [blockade] in blockade.enter() })
    let subscription = probe.map { hub.subscribe($0, to: Listener.self) }
    if suspends {
      hub[Listener.self].notify() { _ in await gate.pass() }
      await gate.arrivals()
    } else {
      hub[Listener.self].notify() { _ in handling.enter() }
      await handling.entry()
    }
    probe = nil
    gate.open()
    _ = handling.end()
    await blockade.entry()
    #expect(await hub[Listener.self].vote() { _ in true })
    #expect(blockade.end())
    #expect(await hub.drain().isEmpty)
    #expect(incidents.history.map(\.description) == [])
    #expect(subscription?.isActive == false)
  }
}

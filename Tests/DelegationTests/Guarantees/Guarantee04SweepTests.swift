import Synchronization
import Testing

@testable import Delegation

@Suite("Guarantee 4: weak, and how the dead are found out", .inTurn)
struct Guarantee04SweepTests {
  private let stage = Stage()

  private var population: Int? {
    stage.hub.topics.find(ObjectIdentifier(Listener.self))?.state.withLock { $0.population }
  }

  @Test("one that has died when its turn comes is expired, not handled", arguments: Reach.allCases)
  func inTurn(reach: Reach) {
    var mortal: Probe? = Probe("mortal")
    stage.hub.subscribe(mortal!, to: Listener.self)
    mortal = nil
    let call = stage.start { await reach($0) { _ in Issue.record("the dead are called") } }
    #expect(call.result != nil)
    let isTold = !Reach.asking.contains(reach)
    #expect(stage.account == Account(expired: isTold ? 1 : 0))
    #expect(population == 0)
  }

  @Test("where there are many the dead are looked for, found expired and forgotten, time and again")
  func search() {
    var living = stage.cast(100)
    let still = ManualExecutor()
    var expired = 0
    var handled = 0
    for round in 1...3 {
      // Made first, lest it gets the address of one that has died.
      let last = Probe("the 512th")
      let dying = 511 - living.count
      mourn(dying, on: still)
      handled += living.count
      #expect(population == 511)
      #expect(stage.account == Account(handled: handled, expired: expired, waiting: dying))
      expired += dying
      stage.hub.subscribe(last, to: Listener.self)
      living.append(last)
      stage.run()
      #expect(population == living.count, "round \(round)")
      #expect(stage.account == Account(handled: handled, expired: expired))
    }
    still.run()
    #expect(stage.hub.activity.workers.value == 0)
    #expect(living.map(\.log.history.count) == Array(repeating: 3, count: 100) + [2, 1, 0])
  }

  @Test("one that dies while the dead are looked for dies once, and its deinit may call the hub")
  func deathDuringSearch() async {
    let hub = DelegateHub()
    let deaths = Atomic<Int>(0)
    var made = 0
    for _ in races(100) {
      // Enough for two searches. In these too some may die, and no lock of the hub may be held then.
      let mortals = (0..<1200).map { _ in
        Probe {
          hub.unsubscribeAll(from: Bystander.self)
          deaths.add(1, ordering: .relaxed)
        }
      }
      for mortal in mortals { hub.subscribe(mortal, to: Listener.self) }
      made += mortals.count
    }
    while hub[Listener.self].count > 0 { await Task.yield() }
    await hub.drain()
    #expect(deaths.load(ordering: .relaxed) == made)
  }

  /// Subscribes that many who die before they get to what is posted.
  private func mourn(_ count: Int, on executor: ManualExecutor) {
    let mortals = Probe.many(count)
    for mortal in mortals { stage.hub.subscribe(mortal, to: Listener.self, on: executor) }
    stage.hub[Listener.self].notify() { $0.log.record(1) }
    stage.run()
    withExtendedLifetime(mortals) {}
  }
}

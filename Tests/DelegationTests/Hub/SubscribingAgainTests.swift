import Testing

@testable import Delegation

@Suite(
  "Subscribing again: options that are not named stay as they are", .inTurn)
struct SubscribingAgainTests {
  private let hub = DelegateHub()

  @Test("with none named, all stay")
  func none() async {
    let queue = MarkedQueue.make("own")
    let gate = Gate()
    var subscriber: Probe? = Probe("kept")
    let other = Probe("other")
    hub.subscribe(other, to: Listener.self)
    let first = hub.subscribe(
      subscriber!, to: Listener.self, priority: 1, id: "id", hold: .strongly, mailbox: .latest,
      on: queue)
    let second = hub.subscribe(subscriber!, to: Listener.self)
    #expect(second == first)
    let log = subscriber!.log
    subscriber = nil
    // Priority, hold and executor.
    let places = await hub[Listener.self].collect() { ($0.name, MarkedQueue.current) }
    #expect(places.compactMap { try? $0.result.get().0 } == ["kept", "other"])
    #expect(places.compactMap { try? $0.result.get().1 } == ["own", "elsewhere"])
    // The mailbox.
    hub[Listener.self].notify() { if $0.name == "kept" { await gate.pass() } }
    await gate.arrivals()
    for number in 1...3 { hub[Listener.self].notify() { $0.log.record(number) } }
    gate.open()
    await hub.drain()
    #expect(log.history == [3])
    // The id.
    hub.unsubscribe(id: "id")
    #expect(!first.isActive)
  }

  @Test("what is named is changed, and the rest stays")
  func one() async {
    let queue = MarkedQueue.make("own")
    let probe = Probe("0")
    let other = Probe("1")
    hub.subscribe(probe, to: Listener.self, on: queue)
    hub.subscribe(other, to: Listener.self, priority: 1)
    hub.subscribe(probe, to: Listener.self, priority: 2)
    let places = await hub[Listener.self].collect() { $0.name + MarkedQueue.current }
    #expect(places.compactMap { try? $0.result.get() } == ["0own", "1elsewhere"])
    hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    hub.subscribe(probe, to: Listener.self, priority: 0, on: globalConcurrentExecutor)
    let later = await hub[Listener.self].collect() { $0.name + MarkedQueue.current }
    #expect(later.compactMap { try? $0.result.get() } == ["1elsewhere", "0elsewhere"])
  }

  @Test("a strong hold ends when a weak one is named")
  func hold() async {
    var probe: Probe? = Probe()
    let obituary = Obituary(of: probe!)
    hub.subscribe(probe!, to: Listener.self, hold: .strongly)
    hub.subscribe(probe!, to: Listener.self, hold: .weakly)
    probe = nil
    await obituary.death()
    #expect((!!hub[Listener.self].isEmpty))
  }

  @Test("an id that is named alone is the subscription's from then on")
  func idAlone() {
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let subscription = hub.subscribe(probe, to: Listener.self, id: "late")
    #expect(subscription.node.id?.matches(Identity("late")) == true)
  }

  @Test("an object that takes over another one's id is new: it has the defaults")
  func takeOver() async {
    let (old, new) = (Probe("old"), Probe("new"))
    hub.subscribe(old, to: Listener.self, id: 1, mailbox: .latest, on: MarkedQueue.make("own"))
    hub.subscribe(new, to: Listener.self, id: 1)
    let places = await hub[Listener.self].collect() { $0.name + MarkedQueue.current }
    #expect(places.compactMap { try? $0.result.get() } == ["newelsewhere"])
  }
}

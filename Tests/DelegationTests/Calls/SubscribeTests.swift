import Delegation
import Testing

@Suite("subscribe", .inTurn)
struct SubscribeTests {
  private let hub = DelegateHub(.init(onIncident: { _ in }))

  @Test("a crowd that comes, goes and changes its priorities is always in order")
  func priorities() async {
    var random = SystemRandomNumberGenerator()
    for _ in rounds(10) {
      let hub = DelegateHub()
      let probes = Probe.many(30)
      // What a plain list would say: the priority of each, in order of subscription.
      var model: [(name: String, priority: Int)] = []
      for _ in 0..<100 {
        let probe = probes.randomElement(using: &random)!
        let priority = [.min, -2, 0, 0, 1, .max].randomElement(using: &random)!
        let place = model.firstIndex { $0.name == probe.name }
        if let place, Bool.random(using: &random) {
          hub.unsubscribe(probe)
          model.remove(at: place)
        } else {
          hub.subscribe(probe, to: Listener.self, priority: priority)
          if let place { model.remove(at: place) }
          model.insert((probe.name, priority), at: place ?? model.endIndex)
        }
        let expected = [.max, 1, 0, -2, .min].flatMap { priority in
          model.filter { $0.priority == priority }.map(\.name)
        }
        #expect(hub[Listener.self].subscribers.map(\.name) == expected)
        #expect(await hub[Listener.self].ask(combining: .all()) { $0.name } == expected)
      }
    }
  }

  @Test("options that are not named stay as they are")
  func again() async {
    let (gate, queue) = (Gate(), DispatchQueueExecutor(MarkedQueue.make("own")))
    var subscriber: Probe? = Probe("kept")
    let other = Probe("other")
    hub.subscribe(other, to: Listener.self)
    let first = hub.subscribe(
      subscriber!, to: Listener.self, priority: 1, id: "id", hold: .strongly, mailbox: .latest,
      on: queue)
    #expect(hub.subscribe(subscriber!, to: Listener.self) == first)
    let log = subscriber!.log
    subscriber = nil
    // Priority, hold and executor.
    #expect(await places() == ["kept own", "other elsewhere"])
    // The mailbox.
    hub[Listener.self].notify { if $0.name == "kept" { await gate.pass() } }
    await gate.arrivals()
    for number in 1...3 { hub[Listener.self].notify { $0.log.record(number) } }
    gate.open()
    await hub.drain()
    #expect(log.history == [3])
    // The id.
    hub.unsubscribe(id: "id")
    #expect(!first.isActive)
  }

  /// Who is asked, and where.
  private func places() async -> [String] {
    await hub[Listener.self].collect { "\($0.name) \(MarkedQueue.current)" }
      .compactMap { try? $0.result.get() }
  }

  @Test("what is named is changed, and the rest stays")
  func changes() async {
    let queue = DispatchQueueExecutor(MarkedQueue.make("own"))
    let (probe, other) = (Probe("0"), Probe("1"))
    hub.subscribe(probe, to: Listener.self, on: queue)
    hub.subscribe(other, to: Listener.self, priority: 1)
    hub.subscribe(probe, to: Listener.self, priority: 2)
    #expect(await places() == ["0 own", "1 elsewhere"])
    hub.subscribe(probe, to: Listener.self, mailbox: .latest)
    hub.subscribe(probe, to: Listener.self, priority: 0, on: globalConcurrentExecutor)
    #expect(await places() == ["1 elsewhere", "0 elsewhere"])
    // An id that is named alone is the subscription's from then on; and so is a strong hold, until a weak one is named.
    let subscription = hub.subscribe(probe, to: Listener.self, id: "late")
    hub.unsubscribe(id: "late")
    #expect(!subscription.isActive)
    func subscribe() -> Obituary {
      let mortal = Probe()
      hub.subscribe(mortal, to: Bystander.self, hold: .strongly)
      hub.subscribe(mortal, to: Bystander.self, hold: .weakly)
      return Obituary(of: mortal)
    }
    await subscribe().death()
    #expect(hub[Bystander.self].isEmpty)
    withExtendedLifetime((probe, other)) {}
  }

  @Test("one inherits by its id from one that died, too, and under a limit of its own")
  func inheritanceFromTheDead() {
    let stage = Stage { $0.onIncident = { _ in } }
    var older: Probe? = Probe("older")
    let subscription = older.map { stage.hub.subscribe($0, to: Listener.self, id: "x") }
    for number in 0..<5 { stage.hub[Listener.self].notify { $0.log.record(number) } }
    older = nil
    let younger = Probe("younger")
    stage.hub.subscribe(younger, to: Listener.self, id: "x", mailbox: .dropOldest(limit: 2))
    stage.run()
    #expect(younger.log.history == [3, 4])
    // To end the older one does nothing to the younger one.
    subscription?.cancel()
    #expect(stage.hub[Listener.self].count == 1)
    #expect(stage.hub.statistics().counts.description == told(handled: 2, dropped: 3))
  }

  @Test("an id is of one protocol; to unsubscribe it ends it in all")
  func ids() {
    let (one, other, third) = (Probe("one"), Probe("other"), Probe("third"))
    hub.subscribe(one, to: Listener.self, id: 1)
    hub.subscribe(other, to: Bystander.self, id: 1)
    hub.subscribe(third, to: Listener.self, id: "1")
    hub.subscribe(third, to: Bystander.self, id: 2)
    #expect((hub[Listener.self].count, hub[Bystander.self].count) == (2, 2))
    hub.unsubscribe(id: 1)
    hub.unsubscribe(id: 3)
    #expect(hub[Listener.self].subscribers.map(\.name) == ["third"])
    #expect(hub[Bystander.self].subscribers.map(\.name) == ["third"])
    hub[Listener.self].unsubscribe(third as any Listener)
    #expect((hub[Listener.self].count, hub[Bystander.self].count) == (0, 1))
    hub.unsubscribe(third)
    #expect(hub[Bystander.self].isEmpty)
    withExtendedLifetime((one, other)) {}
  }

  /// An id whose hash is that of all others, and which may call a hub when it is looked at.
  private struct Key: Hashable, Sendable {
    let value: Int
    var hub: DelegateHub?

    static func == (lhs: Key, rhs: Key) -> Bool {
      lhs.callHub()
      return lhs.value == rhs.value
    }

    func hash(into hasher: inout Hasher) { callHub() }

    private func callHub() {
      guard let hub else { return }
      let other = Probe("other")
      hub.subscribe(other, to: Listener.self, id: "a plain one")
      hub[Listener.self].notify { $0.log.record(0) }
      hub.unsubscribe(other)
      hub.unsubscribe(id: "a plain one")
      hub[Bystander.self].unsubscribeAll()
    }
  }

  @Test("ids whose hashes are the same are told apart, and one that calls the hub blocks nothing")
  func collisions() {
    let stage = Stage()
    let probes = Probe.many(20)
    for isCalling in [false, true] {
      let hub = isCalling ? stage.hub : nil
      for probe in probes {
        stage.hub.subscribe(probe, to: Listener.self, id: Key(value: Int(probe.name)!, hub: hub))
      }
      let younger = Probe("younger")
      stage.hub.subscribe(younger, to: Listener.self, id: Key(value: 3, hub: hub))
      for value in [17, 99] { stage.hub.unsubscribe(id: Key(value: value, hub: hub)) }
      var expected = probes.map(\.name)
      expected[3] = "younger"
      expected.remove(at: 17)
      #expect(stage.hub[Listener.self].subscribers.map(\.name) == expected)
      stage.hub[Listener.self].unsubscribeAll()
    }
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  private protocol Third: AnyObject, Sendable {}

  private final class Partial: Listener {
    let name = "partial"
    let log = Recorder<Int>()
  }

  @Test("toEachOf: subscribes to those that it conforms to, in their order, with the options")
  func toEach() async {
    let (probe, partial, places) = (Probe("probe"), Partial(), Recorder<String>())
    let subscriptions = hub.subscribe(probe, toEachOf: Listener.self, Third.self, Bystander.self)
    #expect(
      subscriptions == [
        hub.subscribe(probe, to: Listener.self), hub.subscribe(probe, to: Bystander.self),
      ])
    #expect(hub.subscribe(partial, toEachOf: Listener.self, Bystander.self).count == 1)
    #expect((hub[Listener.self].count, hub[Bystander.self].count) == (2, 1))
    #expect(hub[Third.self].isEmpty)
    hub.subscribe(
      Probe("late"), toEachOf: Listener.self, Bystander.self, priority: 1, id: "late",
      hold: .strongly, mailbox: .latest, on: DispatchQueueExecutor(MarkedQueue.make("each")))
    #expect(hub[Listener.self].subscribers.map(\.name) == ["late", "probe", "partial"])
    #expect(hub[Bystander.self].subscribers.map(\.name) == ["late", "probe"])
    await hub[Bystander.self].notifyAndWait { places.record("\($0.name) \(MarkedQueue.current)") }
    #expect(places.history.sorted() == ["late each", "probe elsewhere"])
    // Again, it changes nothing that is not named.
    hub.subscribe(probe, to: Listener.self, priority: 3)
    #expect(hub.subscribe(probe, toEachOf: Listener.self, Bystander.self) == subscriptions)
    #expect(hub[Listener.self].subscribers.first === probe)
    hub.unsubscribe(id: "late")
    #expect((hub[Listener.self].count, hub[Bystander.self].count) == (2, 1))
    // It replaces where it conforms; elsewhere the former one stays.
    let former = hub.subscribe(
      Probe("former"), toEachOf: Listener.self, Bystander.self, id: "late", hold: .strongly)
    let newer = hub.subscribe(
      Partial(), toEachOf: Listener.self, Bystander.self, id: "late", hold: .strongly)
    #expect(newer.map(\.isActive) == [true] && former.map(\.isActive) == [false, true])
    withExtendedLifetime(partial) {}
  }
}

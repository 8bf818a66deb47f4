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

  /// An id whose hash is that of all others.
  private struct Key: Hashable, Sendable {
    let value: Int
    func hash(into hasher: inout Hasher) {}
  }

  @Test("ids whose hashes are the same are told apart")
  func collisions() {
    let (probes, younger) = (Probe.many(20), Probe("younger"))
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, id: Key(value: Int(probe.name)!))
    }
    hub.subscribe(younger, to: Listener.self, id: Key(value: 3))
    for value in [17, 99] { hub.unsubscribe(id: Key(value: value)) }
    var expected = probes.map(\.name)
    expected[3] = "younger"
    expected.remove(at: 17)
    #expect(hub[Listener.self].subscribers.map(\.name) == expected)
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

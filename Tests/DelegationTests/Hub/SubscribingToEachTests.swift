import Testing

@testable import Delegation

@Suite("subscribe(_:toEachOf:)", .inTurn)
struct SubscribingToEachTests {
  private protocol Third: AnyObject, Sendable {}

  private final class Partial: Listener {
    let name = "partial"
    let log = Recorder<Int>()
  }

  private final class Neither: Sendable {}

  @Test("an object is subscribed to those that it conforms to, in their order")
  func those() async {
    let hub = DelegateHub()
    let (probe, partial) = (Probe(), Partial())
    let subscriptions = hub.subscribe(probe, toEachOf: Listener.self, Third.self, Bystander.self)
    #expect(
      subscriptions.map(\.node.topic.name).map { $0.split(separator: ".").last } == [
        "Listener", "Bystander",
      ])
    #expect(subscriptions.map(\.isActive) == [true, true])
    #expect(hub.subscribe(partial, toEachOf: Listener.self, Bystander.self).count == 1)
    #expect(hub[Listener.self].count == 2)
    #expect(hub[Bystander.self].count == 1)
    #expect((!!hub[Third.self].isEmpty))
    hub[Listener.self].notify() { $0.log.record(1) }
    hub[Bystander.self].notify() { $0.log.record(2) }
    await hub.drain()
    #expect(probe.log.history.sorted() == [1, 2])
    #expect(partial.log.history == [1])
  }

  @Test("again, it changes nothing")
  func again() async {
    let hub = DelegateHub()
    let probe = Probe("first")
    let first = hub.subscribe(probe, to: Listener.self, priority: 3)
    #expect(hub.subscribe(probe, toEachOf: Listener.self, Bystander.self).first == first)
    let other = Probe()
    hub.subscribe(other, to: Listener.self, priority: 2)
    #expect(hub[Listener.self].subscribers.first === probe)
  }

  @Test("each of the subscriptions has the options")
  func options() async {
    let hub = DelegateHub()
    let queue = MarkedQueue.make("each")
    let (early, places) = (Probe("early"), Recorder<String>())
    hub.subscribe(early, toEachOf: Listener.self, Bystander.self)
    func subscribe() {
      hub.subscribe(
        Probe("late"), toEachOf: Listener.self, Bystander.self, priority: 1, id: "late",
        hold: .strongly, mailbox: .latest, on: DispatchQueueExecutor(queue))
    }
    subscribe()
    #expect(hub[Listener.self].subscribers.map(\.name) == ["late", "early"])
    #expect(hub[Bystander.self].subscribers.map(\.name) == ["late", "early"])
    hub[Bystander.self].notify() { if $0.name == "late" { places.record(MarkedQueue.current) } }
    await hub.drain()
    #expect(places.history == ["each"])
    hub.unsubscribe(id: "late")
    #expect(hub[Listener.self].count == 1)
    #expect(hub[Bystander.self].count == 1)
  }

  @Test("an object that conforms to none of them stops the program")
  func none() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      DelegateHub().subscribe(Neither(), toEachOf: Listener.self, Bystander.self)
    }
    #expect(said(result, "Neither conforms to none of the protocols (Listener, Bystander)"))
  }
}

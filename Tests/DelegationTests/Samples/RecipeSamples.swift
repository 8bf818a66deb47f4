import Delegation
import Testing

private protocol Member: AnyObject, Sendable {
  func hear(_ text: String)
}

private final class Guest: Member {
  let heard = Recorder<String>()
  func hear(_ text: String) { heard.record(text) }
}

private final class Muted: Member {
  func hear(_ text: String) {}
}

private protocol OrderGate: AnyObject, Sendable {
  func mayPlace(_ order: Int) async -> Bool
}

private final class Stock: OrderGate {
  func mayPlace(_ order: Int) async -> Bool { true }
}

private final class ClosingTime: OrderGate {
  func mayPlace(_ order: Int) async -> Bool { false }
}

private protocol Responder: AnyObject, Sendable {
  func perform(_ command: String) async -> String?
}

private final class View: Responder {
  let name: String
  init(_ name: String) { self.name = name }
  func perform(_ command: String) async -> String? { name }
}

@Suite("Samples: recipes", .inTurn)
struct RecipeSamples {
  @Test("all but the sender are told; one is muted, and has its place again")
  func members() async {
    let (members, ann, bob, text) = (Delegates<any Member>(), Guest(), Guest(), "hello")
    members.subscribe(ann, id: "ann")
    members.subscribe(bob)
    let sender = ann
    // sample: To all but the sender
    members.notify { if $0 !== sender { $0.hear(text) } }
    // end of sample
    await members.hub.drain()
    #expect(ann.heard.history == [] && bob.heard.history == ["hello"])
    // sample: Muting one
    members.subscribe(Muted(), id: "ann", hold: .strongly)
    members.notify { $0.hear("a secret") }
    await members.hub.drain()  // otherwise she gets what still waits
    members.subscribe(ann, id: "ann", hold: .weakly)
    // end of sample
    members.notify { $0.hear("bye") }
    await members.hub.drain()
    #expect(ann.heard.history == ["bye"] && members.subscribers.first === ann)
  }

  private struct Model {
    var values: [Int] = []
    var reloads = 0
    mutating func apply(_ value: Int) { values.append(value) }
    mutating func reload() { reloads += 1 }
  }

  @Test("a loop learns of its gap")
  func gap() async {
    let events = Events<Int>(of: DelegateHub(.init(onIncident: { _ in })))
    let stream = events.stream(mailbox: .dropOldest(limit: 2))
    for number in 1...5 { events.post(number) }
    events.finish()
    var model = Model()
    // sample: A loop that learns of its gap
    var known = 0
    for await event in stream {
      let dropped = stream.subscription.statistics.counts.dropped
      if dropped > known { model.reload() }
      known = dropped
      model.apply(event)
    }
    // end of sample
    #expect(model.values == [4, 5] && model.reloads == 1)
  }

  @Test("the slowest one is ended")
  func slowest() async {
    // sample: Ending the slowest
    let hub = DelegateHub(
      .init(onIncident: { if $0.kind == .dropped { $0.subscription.cancel() } }))
    let quotes = Events<Int>(of: hub)
    let stream = quotes.stream(mailbox: .dropOldest(limit: 1_000))
    // end of sample
    for number in 0...2_000 { quotes.post(number) }
    for await _ in stream {}
    await hub.drain()
    #expect(!stream.subscription.isActive)
  }

  private enum Alarm: Equatable { case fire }

  @Test("what is replayed is forgotten, and a newcomer has caught up")
  func replayed() async {
    let shown = Recorder<Alarm?>()
    let show = { @Sendable (alarm: Alarm?) in shown.record(alarm) }
    // sample: Forgetting what is replayed
    let alarm = Events<Alarm?>(replaying: 1)
    alarm.post(.fire)
    alarm.post(nil)  // newcomers get nil
    // end of sample
    let (present, printed) = (Alarm?.some(.fire), Recorder<String>())
    let print = { (text: String) in printed.record(text) }
    // sample: When a newcomer has caught up
    alarm.observe { show($0) }
    let outcome = await alarm.notifyAndWait(within: .seconds(5)) { try await $0.receive(present) }
    if outcome.isHandled { print("all have the present value") }
    // end of sample
    #expect(printed.history.count == 1 && shown.history == [nil, .fire])
  }

  @Test("new work is refused at a shutdown")
  func shutdown() async {
    let (hub, stock) = (DelegateHub(), Stock())
    hub.subscribe(stock, to: OrderGate.self)
    // sample: Refusing new work
    hub.subscribe(ClosingTime(), to: OrderGate.self, priority: .max, hold: .strongly)  // says no
    let left = await hub.drain(within: .seconds(5))
    // end of sample
    #expect(left.isEmpty)
    #expect(await !hub[OrderGate.self].vote { await $0.mayPlace(1) })
  }

  @Test("the one that was brought to the front responds first")
  func front() async {
    let responders = Delegates<any Responder>()
    let (list, view) = (View("list"), View("view"))
    var front = 0
    for responder in [list, view] { responders.subscribe(responder) }
    #expect(await responders.askInTurn { await $0.perform("copy") } == "list")
    // sample: First responder
    front += 1
    responders.subscribe(view, priority: front)
    let answer = await responders.askInTurn { await $0.perform("copy") }
    // end of sample
    #expect(answer == "view")
    withExtendedLifetime((list, view)) {}
  }
}

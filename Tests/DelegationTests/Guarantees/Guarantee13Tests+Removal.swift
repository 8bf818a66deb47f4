import Delegation
import Testing

/// What ends at a place, and when, beside a replacement.
extension Guarantee13Tests {
  /// Unsubscribes itself as it dies.
  private final class Leaver: Listener {
    let name = "leaver"
    let log = Recorder<Int>()
    let hub: DelegateHub

    init(of hub: DelegateHub) { self.hub = hub }

    deinit { hub.unsubscribe(self) }
  }

  @Test(
    "a replaced one that has not been called is not called after its removal",
    arguments: Removal.allCases)
  func removedBeforeItBegan(removal: Removal) {
    let (gate, former, newer) = (Gate(), Probe("seat"), Probe("seat"))
    let stage = Stage { $0.interceptors = [Hook.holding(at: gate, firstOnly: true)] }
    let token = stage.hub.subscribe(former, to: Listener.self, id: "seat")
    stage.listeners.notify { $0.log.record(1) }
    stage.run()
    stage.hub.subscribe(newer, to: Listener.self, id: "seat")
    stage.listeners.notify { $0.log.record(2) }
    removal.remove(former, token, from: stage.hub)
    stage.run()
    let isEnded = removal == .unsubscribeByID || removal == .unsubscribeAll
    #expect(newer.log.history == (isEnded ? [] : [2]))
    stage.open(gate)
    #expect(former.log.history == [] && stage.isDrained)
  }

  @Test("one that unsubscribes itself in its deinit lets a replacement begin")
  func unsubscribedInDeinit() {
    let (gate, newer) = (Gate(), Probe())
    let stage = Stage { $0.interceptors = [Hook.holding(at: gate, firstOnly: true)] }
    var former: Leaver? = Leaver(of: stage.hub)
    stage.hub.subscribe(former!, to: Listener.self, id: "seat")
    stage.listeners.notify { $0.log.record(1) }
    stage.run()
    stage.hub.subscribe(newer, to: Listener.self, id: "seat")
    stage.listeners.notify { $0.log.record(2) }
    former = nil
    stage.run()
    #expect(newer.log.history == [2])
    stage.open(gate)
  }

  @Test("who takes a dead one's id gets what waits for it, or if nothing does what is replayed")
  func deadOne() {
    let events = Events<Int>(of: stage.hub, replaying: 1)
    let log = Recorder<Int>()
    func view(_ log: Recorder<Int>?) -> Probe {
      let view = Probe()
      events.observe(with: view, id: "status") { _, event in log?.record(event) }
      return view
    }
    events.post(1)
    var former: Probe? = view(nil)
    stage.run()
    withExtendedLifetime(former) {}
    former = nil
    var newer = view(log)
    stage.run()
    #expect(log.history == [1])
    // What waits for one that dies goes over, as from one that lives.
    for number in 2...3 { events.post(number) }
    newer = view(log)
    stage.run()
    #expect(log.history == [1, 2, 3])
    withExtendedLifetime(newer) {}
  }

  @Test("while a place changes hands, it is seen to be taken, and tokens of one object are active")
  func seenMeanwhile() {
    for isAnother in [false, true] {
      let (hub, probes, over) = (DelegateHub(), Probe.many(2), Count())
      let token = hub.subscribe(probes[0], to: Listener.self, id: "seat")
      let delegates = hub[Listener.self]
      Threads.run(2) { thread in
        if thread == 0 {
          for number in rounds(4_000) {
            hub.subscribe(
              probes[isAnother ? number % 2 : 0], to: Listener.self, priority: number % 3,
              id: "seat")
          }
          over.add(1)
        }
        while thread == 1, over.value == 0 {
          let seen = !delegates.isEmpty && delegates.count == 1 && delegates.subscribers.count == 1
          if !seen || !isAnother && !token.isActive {
            Issue.record("nobody is seen at the place")
            return
          }
        }
      }
    }
  }

  @Test("cancel holds though another subscription takes the id at that moment")
  @MainActor
  func cancelledMeanwhile() async {
    for _ in races(300) {
      let delegates = Delegates<any Hearing>()
      let heard = Recorder<String>()
      let first = Hearer()
      let second = Hearer()
      let token = delegates.registry.subscribe(first, id: "one")
      delegates.notify { @MainActor in heard.record($0 === first ? "first" : "second") }
      let taking = Task.detached { delegates.registry.subscribe(second, id: "one") }
      for _ in 0..<Int.random(in: 0..<200) where heard.count == 0 { Threads.pause() }
      token.cancel()
      let count = heard.count
      _ = await taking.value
      await delegates.hub.drain()
      #expect(heard.events.dropFirst(count).filter { $0 == "first" }.isEmpty)
    }
  }
}

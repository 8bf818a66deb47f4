import Testing

@testable import Delegation

@Suite("Incidents: subscribers that died before they were ever called", .inTurn)
struct IncidentUnheardTests {
  private let scene = IncidentScene()

  @Test(
    "a subscriber that nobody keeps is told at the first call, and once", arguments: Reach.allCases)
  func unheard(reach: Reach) {
    scene.hub.subscribe(Probe(), to: Listener.self, id: 7, fileID: "Door.swift", line: 3)
    for _ in 0..<2 {
      let call = scene.stage.start { await reach($0) { _ in Issue.record("the dead are called") } }
      #expect(call.result != nil)
    }
    let name =
      switch reach {
      case .notify, .notifyAsynchronously: "notify"
      case .notifyAndWait: "notifyAndWait"
      case .vote, .voteWithin: "vote"
      case .ask, .askWithin: "ask"
      case .collect, .collectWithin: "collect"
      case .askInTurn: "askInTurn"
      case .pass: "pass"
      }
    #expect(scene.told == ["unheard \(name) Door.swift:3"])
    #expect(
      scene.incidents.history.first?.description
        == "DelegationTests.Probe (7), subscribed to DelegationTests.Listener at Door.swift:3, "
        + "died before it was ever called, as \(name) found: who keeps it? "
        + "A local variable does so until its last use")
  }

  @Test(
    "one that was called before it died is not told, whatever the call", arguments: Reach.allCases)
  func heard(reach: Reach) {
    var mortal: Probe? = Probe()
    if let mortal { scene.hub.subscribe(mortal, to: Listener.self) }
    #expect(scene.stage.start { await reach($0) { _ in } }.result != nil)
    mortal = nil
    #expect(scene.stage.start { await reach($0) { _ in } }.result != nil)
    #expect(scene.stage.statistics?.protocols.first?.subscribers.isEmpty == true)
    #expect(scene.told == [])
  }

  @Test("nor one that was asked as a further protocol")
  func heardAsFurtherProtocol() {
    var mortal: Probe? = Probe()
    if let mortal { scene.hub.subscribe(mortal, to: Listener.self) }
    let listeners = scene.hub[Listener.self].conforming(to: (any Listener).self)
    for _ in 0..<2 {
      #expect(scene.stage.start { _ in await listeners.vote { _ in true } }.result == true)
      mortal = nil
    }
    #expect(scene.stage.statistics?.protocols.first?.subscribers.isEmpty == true)
    #expect(scene.told == [])
  }

  @Test("nor one that has failed, was removed, or was never to be called")
  func otherwiseGone() {
    var mortals = Probe.many(4)
    scene.hub.subscribe(mortals[0], to: Listener.self)
    scene.hub[Listener.self].notify() { _ in throw Refusal() }
    scene.stage.run()
    #expect(scene.told.count == 1)
    let subscription = scene.hub.subscribe(mortals[1], to: Listener.self)
    scene.hub.subscribe(mortals[2], to: Listener.self, id: "removed")
    let uncalled = scene.hub.subscribe(mortals[3], to: Bystander.self)
    subscription.cancel()
    scene.hub.unsubscribe(id: "removed")
    mortals = []
    scene.hub[Listener.self].notify() { _ in }
    scene.stage.run()
    // As when the dead are looked for.
    uncalled.node.terminate(as: .expired)
    scene.stage.run()
    #expect(scene.told.count == 1)
  }

  @Test(
    "nor is one called whose first notification waits for the main actor while it dies",
    arguments: [false, true], [false, true])
  func diesBeforeTheMainActor(isIntercepted: Bool, isFoundByAnother: Bool) async {
    let told = Recorder<String>()
    let hub = DelegateHub {
      $0.onIncident = { told.record("\($0.kind) \($0.call) \($0.site)") }
      if isIntercepted { $0.interceptors = [Hook { _, next in await next() }] }
    }
    await Task { @MainActor in
      var probes = Probe.many(20)
      let subscriptions = probes.map { hub.subscribe($0, to: Listener.self, fileID: "V", line: 1) }
      hub[Listener.self].notify() { @MainActor _ in Issue.record("the dead are called") }
      // The handlers wait for the main actor, which this keeps.
      while subscriptions.contains(where: { $0.statistics.counts.handling == 0 }) {
        Threads.pause()
      }
      probes = []
      if isFoundByAnother {
        hub[Listener.self].notify() { _ in Issue.record("the dead are called") }
        while subscriptions.contains(where: \.isActive) { Threads.pause() }
      }
    }.value
    await hub.drain()
    #expect(told.history == Array(repeating: "unheard notify V:1", count: 20))
  }

  @Test(
    "nor is one that dies while an interceptor takes its time", arguments: [false, true])
  func diesInAnInterceptor(isAsynchronous: Bool) async {
    let (told, gate) = (Recorder<String>(), Gate())
    let hub = DelegateHub {
      $0.onIncident = { told.record("\($0.kind) \($0.call) \($0.site)") }
      $0.interceptors = [
        Hook { _, next in
          await gate.pass()
          return await next()
        }
      ]
    }
    var probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self, fileID: "V", line: 1) }
    if isAsynchronous {
      hub[Listener.self].notify() { _ in await gate.pass() }
    } else {
      hub[Listener.self].notify() { _ in Issue.record("the dead are called") }
    }
    await gate.arrivals(2)
    probes = []
    gate.open()
    await hub.drain()
    #expect(told.history == ["unheard notify V:1", "unheard notify V:1"])
  }

  /// Something else to subscribe.
  private final class Other: Listener {
    let name = "other"
    let log = Recorder<Int>()
  }

  @Test(
    "one that its owner has released before anybody called is not told, if others of its line were called",
    arguments: Reach.allCases)
  func releasedOnPurpose(reach: Reach) {
    func subscribe(_ listener: any Listener, line: UInt) {
      scene.hub.subscribe(listener, to: Listener.self, fileID: "Room.swift", line: line)
    }
    func call() {
      #expect(scene.stage.start { await reach($0) { _ in } }.result != nil)
    }
    let heard = Probe()
    subscribe(heard, line: 1)
    call()
    subscribe(Probe(), line: 1)
    call()
    #expect(scene.told == [])
    // Another line, or another type, is a mistake of its own.
    subscribe(Probe(), line: 2)
    call()
    subscribe(Other(), line: 1)
    call()
    #expect(scene.told.map { $0.split(separator: " ").last } == ["Room.swift:2", "Room.swift:1"])
    withExtendedLifetime(heard) {}
  }

  @Test("a few lines of the source are remembered for each protocol")
  func bounded() {
    var index = TopicIndex()
    func origin(_ type: any AnyObject.Type, _ file: StaticString, _ line: UInt) -> Origin {
      index.origin(of: type, at: Site(file: file, line: line))
    }
    let first = origin(Probe.self, "f", 1)
    #expect(origin(Probe.self, "g", 1) !== first)
    #expect(origin(Other.self, "f", 1) !== first)
    let others = (4...100).map { origin(Probe.self, "f", $0) }
    let known = (4...100).filter { origin(Probe.self, "f", $0) === others[Int($0) - 4] }
    #expect(known == Array(4...64))
    #expect(origin(Probe.self, "f", 1) === first)
  }

  @Test("where the dead are looked for, those are told that notifications waited for")
  func swept() {
    let still = ManualExecutor()
    var probes = Probe.many(511)
    for (number, probe) in probes.enumerated() {
      scene.hub.subscribe(
        probe, to: Listener.self, on: number < 10 ? still : nil, fileID: "site",
        line: UInt(number < 10 ? 1 : 2))
    }
    scene.hub[Listener.self].notify() { _ in }
    scene.stage.run()
    let last = Probe("the 512th")
    probes = []
    scene.hub.subscribe(last, to: Listener.self)
    scene.stage.run()
    #expect(scene.told == Array(repeating: "unheard notify site:1", count: 10))
    still.run()
  }
}

import Delegation
import Dispatch
import Testing

@Suite("Guarantee 6: apart", .inTurn)
struct Guarantee06Tests {
  /// What one of the subscribers does, where it stands.
  enum Conduct: CaseIterable {
    case suspends, throwsErrors, blocks
  }

  @Test(
    "one that is suspended, throws or blocks delays no other, nor the poster, wherever it stands",
    arguments: Conduct.allCases)
  func conduct(_ conduct: Conduct) async {
    for place in [0, 5, 9] {
      // One thread is taken by the one that blocks, the other one is enough for everybody else.
      let hub = DelegateHub(ManualClock(), on: conduct == .suspends ? nil : ThreadPool(threads: 2))
      let (gate, blockade, probes) = (Gate(), Blockade(), Probe.many(10))
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      hub.subscribe(probes[place], to: Bystander.self)
      let handle: @Sendable (any Listener, Int) throws -> Void = { probe, number in
        if conduct == .throwsErrors, probe.name == "\(place)", number % 2 == 0 { throw Refusal() }
        probe.log.record(number)
      }
      let begin: @Sendable (any Listener) async -> Void = { probe in
        guard probe.name == "\(place)" else { return }
        switch conduct {
        case .suspends: await gate.pass()
        case .blocks: blockade.enter()
        case .throwsErrors: break
        }
      }
      hub.listeners.notify(begin)
      switch conduct {
      case .suspends: await gate.arrivals()
      case .blocks: await blockade.entry()
      case .throwsErrors: break
      }
      for number in 0..<100 {
        if number % 3 == 0 {
          hub.listeners.notify { probe in
            await Task.yield()
            try handle(probe, number)
          }
        } else {
          hub.listeners.notify { try handle($0, number) }
        }
      }
      for (number, probe) in probes.enumerated() where number != place {
        #expect(await probe.log.history(of: 100) == Array(0..<100))
      }
      // Not in another protocol, either, nor with questions.
      #expect(await hub.bystanders.ask(combining: .all()) { $0.name } == ["\(place)"])
      await hub.bystanders.notifyAndWait { $0.log.record(-1) }
      gate.open()
      if conduct == .blocks {
        #expect(probes[place].log.history == [-1])
        #expect(blockade.end(), "somebody waited for it at \(place)")
      }
      await hub.drain()
      let own =
        conduct == .throwsErrors ? stride(from: 1, to: 100, by: 2).map { $0 } : Array(0..<100)
      #expect(probes[place].log.history.filter { $0 >= 0 } == own, "\(place)")
    }
  }

  @Test("when all but one are suspended, that one is served")
  func allButOne() async {
    let (hub, gate) = (DelegateHub(), Gate())
    let probes = hub.cast(200)
    hub.listeners.notify { if $0.name != "100" { await gate.pass() } }
    await gate.arrivals(199)
    for number in 0..<10 { hub.listeners.notify { $0.log.record(number) } }
    #expect(await probes[100].log.history(of: 10) == Array(0..<10))
    gate.open()
    await hub.drain()
    #expect(probes.allSatisfy { $0.log.history == Array(0..<10) })
  }

  @Test("a poster is not held up though every thread of the hub is taken")
  func everyThreadTaken() async {
    let (hub, blockade) = (DelegateHub(on: ThreadPool(threads: 1)), Blockade())
    let probe = hub.cast(1)[0]
    hub.listeners.notify { _ in blockade.enter() }
    await blockade.entry()
    for number in 0..<100 { hub.listeners.notify { $0.log.record(number) } }
    hub.subscribe(Probe(), to: Listener.self).cancel()
    #expect(blockade.end() && hub.listeners.count == 1)
    await hub.drain()
    #expect(probe.log.history == Array(0..<100))
  }

  @Test(
    "an executor that stands still holds up those who need it, and nobody else",
    arguments: HeldCase.all)
  func held(case held: HeldCase) async {
    for call in HeldCall.allCases { await play(held, call, withinAHandler: false) }
    // So does one that stands still in the midst of a handler.
    guard held.owner == .subscriber else { return }
    for call in HeldCall.allCases where !call.isBounded {
      await play(held, call, withinAHandler: true)
    }
  }

  /// Who does not get on while somebody's executor is held up.
  private static let stuck: [HeldCase.Owner: Set<HeldScene.Party>] = [
    .caller: [.caller],
    .subscriber: [.caller],
    .hub: [.caller, .vote, .notify],
  ]

  /// Those that a call without a deadline reaches all the same.
  private static let reached: [HeldCase.Owner: (sideBySide: Set<String>, inTurn: Set<String>)] = [
    .caller: (["before", "it", "apart", "after"], ["before", "it", "apart", "after"]),
    .subscriber: (["before", "apart", "after"], ["before"]),
    .hub: ([], []),
  ]

  private func play(_ held: HeldCase, _ call: HeldCall, withinAHandler: Bool) async {
    let scene = HeldScene(held)
    let task = await scene.call(call, withinAHandler: withinAHandler)
    var stuck = Self.stuck[held.owner] ?? []
    // A deadline is for the caller to get on, and one who does not wait need not.
    if held.owner != .caller, call.isBounded || call == .notify { stuck.remove(.caller) }
    let attempts = HeldScene.Party.others.map { ($0, scene.begin($0)) }
    for (party, tasks) in attempts where !stuck.contains(party) {
      for task in tasks { await task.value }
    }
    if !stuck.contains(.caller), held.owner != .caller { await task.value }
    let names = Self.reached[held.owner].map { call.isInTurn ? $0.inTurn : $0.sideBySide } ?? []
    // What runs in the caller's task does not get on.
    let isInPlace =
      held.owner == .caller && !held.hubHasOne && [.preferring, .handler].contains(held.caller)
    if !call.isBounded, !isInPlace || call == .notify || call == .notifyAndWait {
      #expect(Set(await scene.called.history(of: names.count)) == names, "\(call)")
    }
    var gotOn = Set(scene.gotOn.history)
    // It need not leave its executor for what runs in its task, or is over already.
    if held.owner == .caller { gotOn.remove(.caller) }
    #expect(gotOn == Set(HeldScene.Party.allCases).subtracting(stuck), "\(call)")
    #expect(scene.lane.release(), "\(call): somebody waited for the executor")
    for (_, tasks) in attempts { for task in tasks { await task.value } }
    #expect(await scene.end(), "\(call)")
    await task.value
  }
}

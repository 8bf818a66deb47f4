import Delegation
import Dispatch
import Testing

@Suite("Guarantee 3: no lock, no actor", .inTurn)
struct Guarantee03Tests {
  /// For threads that are blocked: what they take is not taken from other tests.
  private static let pool = ThreadPool(threads: 32)

  @Test("every call may be made from everywhere", arguments: Place.all)
  func everyCall(place: Place) async {
    for call in Call.all {
      let (scene, made) = (Scene(place), Gate())
      let make: @Sendable () async -> Void = {
        await call.make(in: scene)
        made.arrive()
      }
      scene.trigger.set(
        {
          guard let now = call.now else { return _ = Task { await make() } }
          now(scene)
          made.arrive()
        }, awaited: make)
      await place.play(scene)
      scene.gate.open()
      await made.arrivals()
      await expectService(by: scene.hub)
      #expect(await scene.hub.drain().isEmpty, "\(call)")
    }
  }

  @Test("what runs anywhere may take its time: the hub serves all others", arguments: Place.all)
  func blocked(place: Place) async {
    let (scene, blockade) = (Scene(place, on: Self.pool), Blockade())
    scene.trigger.set(blockade.enter, awaited: { blockade.enter() })
    let other = Task(executorPreference: Self.pool) {
      await blockade.entry()
      await expectService(by: scene.hub)
      for call in Call.all where !call.waitsForOthers { await call.make(in: scene) }
      return blockade.end()
    }
    await Task(executorPreference: Self.pool) { await place.play(scene) }.value
    scene.gate.open()
    #expect(await other.value, "somebody waited for \(place)")
    #expect(await scene.hub.drain().isEmpty)
  }

  /// Subscribes somebody, and expects that it is told and asked.
  private func expectService(by hub: DelegateHub) async {
    let client = Probe("client")
    let subscription = hub.subscribe(client, to: Listener.self, priority: .max)
    hub.listeners.notify { if $0.name == "client" { $0.log.record(1) } }
    #expect(await client.log.history(of: 1) == [1])
    #expect(await hub.listeners.ask(combining: .first()) { $0.name } != nil)
    #expect(hub.listeners.subscribers.first === client)
    subscription.cancel()
  }

  @Test("a cancellation handler may cancel the task that asked")
  func cancellingTheAsker() async {
    // In a process of its own: a lock that is taken twice ends the process.
    await #expect(processExitsWith: .success) {
      let (hub, gate, asker) = (DelegateHub(), Gate(), Recorder<Task<Bool, Never>>())
      hub.cast(2)
      asker.record(
        Task {
          await hub.listeners.vote { probe in
            if probe.name == "1" {
              await gate.arrivals()
              return false
            }
            let task = await asker.history(of: 1)[0]
            await withTaskCancellationHandler {
              await gate.pass()
            } onCancel: {
              task.cancel()
              gate.open()
            }
            return true
          }
        })
      #expect(await asker.history[0].value == false)
      #expect(await hub.drain().isEmpty)
    }
  }

  @Test("as long as user code blocks the hub's actor every call returns, and the hub comes to rest")
  func actor() async {
    let (hub, probes, blockade) = (DelegateHub(), Probe.many(3), Blockade())
    for probe in probes.dropLast() { hub.subscribe(probe, to: Listener.self) }
    let occupant = Task(executorPreference: Self.pool) { await hub.occupy(until: blockade) }
    await blockade.entry()
    // The list has changed since the last call, and again below.
    hub.subscribe(probes[2], to: Listener.self, priority: 1)
    let all = hub.listeners
    all.notify { $0.log.record(1) }
    #expect(await all.notifyAndWait { $0.log.record(2) }.isHandled)
    all.forEach { $0.log.record(3) }
    #expect(await all.ask(combining: .all()) { $0.name } == ["2", "0", "1"])
    #expect(await all.vote { await $0.isThere() })
    #expect(await all.collect(within: .seconds(60)) { $0.name }.count == 3)
    #expect(await all.askInTurn { $0.name } == "2")
    hub.unsubscribe(probes[2])
    #expect(await all.pass("") { $1 + $0.name } == "01")
    #expect(all.subscribers.map(\.name) == ["0", "1"] && all.count == 2)
    #expect(hub.statistics().protocols.map(\.subscribers.count) == [2])
    await hub.unsubscribeAndWait(probes[1])
    #expect(await hub.drain().isEmpty)
    #expect(probes.allSatisfy { $0.log.history == [1, 2, 3] })
    #expect(blockade.end(), "something waited for the hub's actor")
    await occupant.value
  }

  /// What handlers wait for that wait at the same time.
  enum Wait: CaseIterable {
    case drains, notifyAndWait, cancelsNext, drainsNextHub, mixed
  }

  /// How many wait, subscribed to how many hubs.
  private static let sizes = [(2, 1), (2, 2), (3, 3), (10, 1), (10, 2), (10, 10)]

  @Test("handlers that wait for all or for each other all go on", arguments: Wait.allCases)
  func waitingForEachOther(wait: Wait) async {
    for (count, hubCount) in rounds(3).flatMap({ _ in Self.sizes }) {
      for isVote in [false, true] {
        let (gate, done) = (Gate(), Recorder<Void>())
        let hubs = (0..<hubCount).map { _ in DelegateHub() }
        let tokens = Probe.many(count).enumerated().map { number, probe in
          hubs[number % hubCount].subscribe(probe, to: Listener.self, hold: .strongly)
        }
        let handle: @Sendable (any Listener) async -> Bool = { probe in
          await gate.pass()
          let number = Int(probe.name)!
          let (own, next) = (hubs[number % hubCount], hubs[(number + 1) % hubCount])
          switch (wait, number % 3) {
          case (.drains, _), (.mixed, 0): await own.drain()
          case (.notifyAndWait, _), (.mixed, 1): await next.listeners.notifyAndWait { _ in }
          case (.cancelsNext, _), (.mixed, _): await tokens[(number + 1) % count].cancelAndWait()
          case (.drainsNextHub, _): await next.drain()
          }
          done.record(())
          return true
        }
        let calls = hubs.map { hub in
          Task {
            if isVote { return await hub.listeners.vote(handle) }
            return await hub.listeners.notifyAndWait { _ = await handle($0) }.left.isEmpty
          }
        }
        await gate.arrivals(count)
        gate.open()
        for call in calls { #expect(await call.value) }
        for hub in hubs { #expect(await hub.drain().isEmpty) }
        #expect(done.count == count)
      }
    }
  }
}

extension DelegateHub {
  /// What users may write: a function that is isolated to the hub.
  fileprivate func occupy(until blockade: Blockade) { blockade.enter() }
}

extension Listener {
  fileprivate func isThere() async -> Bool { true }
}

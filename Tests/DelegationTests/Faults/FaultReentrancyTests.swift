import Testing

@testable import Delegation

@Suite("Faults: handlers that turn against their own hub", .inTurn(.heavy))
struct FaultReentrancyTests {
  @Test("A handler calls the hub a thousand levels deep", arguments: [1, 3])
  func handlerRecurses(subscribers: Int) async {
    let hub = DelegateHub()
    let probes = Probe.many(subscribers)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let left = Recorder<DelegateHub.Leftovers>()
    // One of them goes down a level, and at the bottom waits for everything but itself.
    @Sendable func depth(from level: Int) async -> Int {
      if level == 1_000 {
        left.record(await hub.drain())
        return level
      }
      switch level % 4 {
      case 0:
        return await hub[Listener.self].ask(combining: .max()) { probe in
          probe.name == "0" ? await depth(from: level + 1) : 0
        } ?? 0
      case 1:
        return await hub[Listener.self].askInTurn() { _ in await depth(from: level + 1) } ?? 0
      case 2:
        return await hub[Listener.self].pass(0) { probe, value in
          probe.name == "0" ? await depth(from: level + 1) : value
        } ?? 0
      default:
        let replies = await hub[Listener.self].collect() { probe in
          probe.name == "0" ? await depth(from: level + 1) : 0
        }
        return replies.compactMap { try? $0.result.get() }.max() ?? 0
      }
    }
    #expect(await depth(from: 0) == 1_000)
    #expect(left.history.map { $0.subscribers.map(\.running).reduce(0, +) } == [1_000])

    // What is posted from a handler comes after it, so notifications do not nest.
    @Sendable func post(_ number: Int) {
      hub[Listener.self].notify() { probe in
        if probe.name == "0", number < 1_000 { post(number + 1) }
        probe.log.record(number)
      }
    }
    post(1)
    #expect(await hub.drain().isEmpty)
    for probe in probes { #expect(probe.log.history == Array(1...1_000)) }
    #expect(await hub.accounts() == .init(handled: 1_000 * subscribers))
  }

  @Test("A handler floods its own hub")
  func handlerFloods() throws {
    let stage = Stage()
    let (bounded, other) = (Probe("bounded"), Probe("other"))
    let neighbour = Probe("neighbour")
    stage.hub.subscribe(bounded, to: Listener.self, mailbox: .dropOldest(limit: 10))
    stage.hub.subscribe(other, to: Listener.self)
    stage.hub.subscribe(neighbour, to: Bystander.self)
    let total = 20_000
    let posted = Recorder<Int>()
    // With each one handled two more are posted, so more waits the longer it lasts.
    @Sendable func post() {
      let number = posted.history.count
      guard number < total else { return }
      posted.record(number)
      stage.hub[Listener.self].notify() { probe in
        probe.log.record(number)
        guard probe.name == "other" else { return }
        post()
        post()
        if number == 10 { stage.hub[Bystander.self].notify() { $0.log.record(posted.history.count) } }
      }
    }
    post()
    stage.run()
    #expect(other.log.history == Array(0..<total))
    try #require(neighbour.log.history.count == 1)
    #expect(neighbour.log.history[0] < total / 2, "it was told after the flood")
    #expect(bounded.log.history == bounded.log.history.sorted())
    let counts = stage.statistics?.protocols.last?.subscribers.map(\.counts)
    let handled = bounded.log.history.count
    #expect(counts == [.init(handled: handled, dropped: total - handled), .init(handled: total)])
    #expect(handled < total)
  }

  @Test("A handler cancels everybody")
  func handlerCancelsEverybody() {
    let stage = Stage()
    let probes = stage.cast(10)
    let neighbour = Probe("neighbour")
    stage.hub.subscribe(neighbour, to: Bystander.self)
    let hub = stage.hub
    for number in 0..<5 {
      hub[Listener.self].notify() { probe in
        probe.log.record(number)
        if probe.name == "3", number == 0 { hub.unsubscribeAll(from: Listener.self) }
        probe.log.record(number)
      }
    }
    hub[Bystander.self].notify() { $0.log.record(1) }
    stage.run()
    // Those before it have handled all, it has finished its own, and those after it got nothing.
    for (index, probe) in probes.enumerated() {
      let expected = index < 3 ? [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] : index == 3 ? [0, 0] : []
      #expect(probe.log.history == expected)
    }
    #expect(neighbour.log.history == [1])
    #expect(stage.accounts == .init(handled: 17, cancelled: 34))

    // Of those who vote, the ones after it are not asked, and the vote goes by who answered.
    let voters = stage.cast(10)
    let answers = stage.perform { hub in
      await hub[Listener.self].ask(combining: .all()) { probe in
        if probe.name == "3" { hub.unsubscribeAll(from: Listener.self) }
        return probe.name
      }
    }
    #expect(answers == ["0", "1", "2", "3"])
    // And whoever subscribes then is served.
    let newcomer = stage.cast(1)
    hub[Listener.self].notify() { $0.log.record(6) }
    stage.run()
    #expect(newcomer[0].log.history == [6])
    withExtendedLifetime(voters) {}
  }

  @Test("A subscriber dies in its own handler")
  func subscriberDies() {
    let stage = Stage()
    let died = Recorder<String>()
    let log = Recorder<Int>()
    let owner = Lock<Probe?>(Probe("mortal") { died.record("died") })
    let other = Probe("other")
    owner.withLock { if let mortal = $0 { stage.hub.subscribe(mortal, to: Listener.self) } }
    stage.hub.subscribe(other, to: Listener.self)
    for number in 0..<4 {
      stage.hub[Listener.self].notify() { probe in
        log.record(number)
        guard probe.name == "mortal" else { return }
        let last = owner.withLock { owner in
          defer { owner = nil }
          return owner
        }
        withExtendedLifetime(last) {}
        // It lives until its handler has returned.
        died.record(probe.name)
      }
    }
    stage.run()
    #expect(died.history == ["mortal", "died"])
    #expect(log.history == [0, 0, 1, 2, 3])
    #expect(stage.accounts == .init(handled: 5, expired: 3))
    #expect(stage.perform { $0[Listener.self].count } == 1)
  }

  @Test("A handler releases its hub")
  func handlerReleasesHub() async {
    let owner = Lock<DelegateHub?>(DelegateHub())
    let probes = Probe.many(2)
    let obituary = owner.withLock { Obituary(of: $0!) }
    let subscriptions = probes.compactMap { probe in
      owner.withLock { $0 }?.subscribe(probe, to: Listener.self)
    }
    let posted = Gate()
    // The poster's own reference goes with its task.
    await Task {
      let hub = owner.withLock { $0 }
      hub?[Listener.self].notify() { probe in
        await posted.pass()
        let last = owner.withLock { owner in
          defer { owner = nil }
          return owner
        }
        withExtendedLifetime(last) {}
        probe.log.record(0)
      }
      for number in 1..<10 { hub?[Listener.self].notify() { $0.log.record(number) } }
    }.value
    posted.open()
    for probe in probes { #expect(await probe.log.history(of: 10) == Array(0..<10)) }
    await obituary.death()
    // Its death is seen before its `deinit`, which ends them, is over.
    while subscriptions.contains(where: \.isActive) { await Task.yield() }
  }

  @Test("A deinit calls the hub", arguments: Place.deaths)
  func deinitReenters(place: Place) async {
    let scene = Scene(place)
    let called = Recorder<String>()
    scene.trigger.set {
      for call in Call.allCases where !call.isAwaited { call.make(in: scene) }
      called.record("synchronously")
      Task {
        for call in Call.allCases where call.isAwaited { await call.make(in: scene) }
        called.record("and awaited")
      }
    } asynchronously: {
    }
    await scene.play()
    scene.end()
    #expect(await called.history(of: 2) == ["synchronously", "and awaited"])
    #expect(await scene.hub.drain().isEmpty)
    #expect(await scene.hub.accounts().waiting == 0)
  }
}

extension Place {
  /// Where a `deinit` calls the hub.
  fileprivate static let deaths: [Place] = [
    .subscriberDies, .subscriberDiesAfterHandler, .subscriberDiesAfterVote, .heldIsCancelled,
    .heldIsReplaced, .captureIsHandled, .captureIsDiscarded, .captureIsUnheard, .captureHasAsked,
    .combinerDies, .responseDies, .lateResponseDies, .errorDies,
  ]
}

import Delegation
import Testing

/// The rows that are about callers, owners, clocks and executors, and what is not in the table.
@Suite("Faults: callers, owners and surroundings that are not as they should be", .inTurn(.heavy))
struct FaultSurroundingsTests {
  let stage = Stage()
  let gate = Gate()

  @Test("The caller's deadline is zero")
  func deadlineIsZero() {
    stage.hub.cast(3)
    stage.listeners.notify { [gate] in if $0.name == "1" { await gate.pass() } }
    stage.listeners.notify { _ in }
    stage.run()
    let votes = stage.perform { hub in
      [
        await hub.listeners.vote(within: .zero, absent: .abstains) { _ in false },
        await hub.listeners.vote(within: .seconds(-1), absent: .counts(as: false)) { _ in true },
      ]
    }
    #expect(votes == [true, false] && stage.hub.statistics().questions.asked == 0)
    do { stage.hub.subscribe(Probe("dead"), to: Listener.self) }
    let replies = stage.perform { await $0.listeners.collect(within: .zero) { $0.name } }
    let timedOut = Array(repeating: DelegateHub.ReplyError.timedOut, count: 3)
    #expect(replies?.map { $0.error as? DelegateHub.ReplyError } == timedOut)
    let left = stage.perform { await $0.drain(within: .zero) }
    #expect(left?.subscribers.map { [$0.running, $0.waiting] } == [[1, 1]])
    stage.open(gate)
    #expect(stage.counted == counts(handled: 6))
  }

  @Test("A handler releases its hub")
  func handlerReleasesHub() async {
    let (owner, probes) = (Guarded<DelegateHub?>(DelegateHub()), Probe.many(2))
    let obituary = owner.withLock { Obituary(of: $0!) }
    let tokens = probes.compactMap { probe in
      owner.withLock { $0 }?.subscribe(probe, to: Listener.self)
    }
    // The poster's own reference goes with its task.
    await Task { [gate] in
      let hub = owner.withLock { $0 }
      hub?.listeners.notify { probe in
        await gate.pass()
        _ = owner.take()
        probe.log.record(0)
      }
      for number in 1..<10 { hub?.listeners.notify { $0.log.record(number) } }
    }.value
    gate.open()
    for probe in probes { #expect(await probe.log.history(of: 10) == Array(0..<10)) }
    await obituary.death()
    // Its death is seen before its `deinit`, which ends them, is over.
    while tokens.contains(where: { $0.isActive }) { await Task.yield() }
  }

  @Test("The hub is released with work waiting")
  func hubIsReleased() {
    let (executor, lifetimes, probes) = (ManualExecutor(), Lifetimes(), Probe.many(3))
    var hub: DelegateHub? = DelegateHub(on: executor)
    let obituary = Obituary(of: hub!)
    var tokens = probes.map { hub!.subscribe($0, to: Listener.self) }
    let held = { () -> Obituary in
      let probe = Probe("held")
      tokens.append(hub!.subscribe(probe, to: Listener.self, hold: .strongly))
      return Obituary(of: probe)
    }()
    for number in 0..<100 {
      let cargo = lifetimes.make()
      hub?.listeners.notify { [gate] probe in
        withExtendedLifetime(cargo) {}
        if number == 50, probe.name == "1" { await gate.pass() }
        probe.log.record(number)
      }
    }
    hub = nil
    #expect(tokens.allSatisfy({ $0.isActive }))
    executor.run()
    #expect(probes.map(\.log.history.count) == [100, 50, 100])
    // As long as a handler runs or something waits, there is a hub.
    #expect(!held.isDead && tokens[1].isActive)
    gate.open()
    executor.run()
    #expect(probes.allSatisfy { $0.log.history == Array(0..<100) })
    #expect(
      obituary.isDead && held.isDead && lifetimes.alive == 0
        && !tokens.contains(where: { $0.isActive }))
  }

  /// A tenth of a million, unless there is more effort: what each does is the same.
  private static let million = Effort.count(100_000)

  /// Posts that many notifications, each with cargo, to a subscriber that hangs, and gives the most that was alive.
  private func flood(_ lifetimes: Lifetimes, _ policy: DelegateHub.MailboxPolicy) -> Int {
    stage.hub.subscribe(Probe(), to: Listener.self, hold: .strongly, mailbox: policy)
    stage.listeners.notify { [gate] _ in await gate.pass() }
    stage.run()
    var most = 0
    for number in 1...Self.million {
      let cargo = lifetimes.make()
      stage.listeners.notify { _ in withExtendedLifetime(cargo) {} }
      guard number % 1_000 == 0 else { continue }
      most = max(most, lifetimes.alive)
      stage.run()
    }
    return most
  }

  @Test("A million notifications flood a mailbox that has a limit")
  func floodWithLimit() {
    let lifetimes = Lifetimes()
    // What waits, and what was posted since the hub last had a thread.
    #expect(flood(lifetimes, .dropOldest(limit: 10)) <= 10 + 1_000 + 1)
    #expect(lifetimes.alive <= 11)
    #expect(stage.counted == counts(dropped: Self.million - 10, waiting: 10, handling: 1))
    stage.open(gate)
    #expect(
      stage.counted == counts(handled: 11, dropped: Self.million - 10) && lifetimes.alive == 0)
  }

  @Test("A million notifications flood a mailbox that has none")
  func floodWithoutLimit() {
    let lifetimes = Lifetimes()
    #expect(flood(lifetimes, .unbounded) == Self.million)
    #expect(stage.counted == counts(waiting: Self.million, handling: 1))
    // All of it is released in one go by the last who has it, link by link.
    stage.listeners.registry.unsubscribeAll()
    #expect(lifetimes.alive == 0)
    stage.open(gate)
    #expect(stage.counted == counts(handled: 1, cancelled: Self.million))
  }

  @Test("A handler floods its own hub: nobody is starved, though there is a single thread")
  func handlerFloods() {
    let (reached, total) = (Recorder<(event: String, posted: Int)>(), 4_000)
    let (probes, posted) = (stage.hub.cast(2), Recorder<Int>())
    let (hub, executor) = (stage.hub, stage.executor)
    hub.subscribe(probes[0], to: Bystander.self)
    // With each one handled two more are posted, so more waits the longer it lasts.
    @Sendable func post() {
      let number = posted.count
      guard number < total else { return }
      posted.record(number)
      hub.listeners.notify { probe in
        probe.log.record(number)
        guard probe.name == "1" else { return }
        post()
        post()
        guard number == 10 else { return }
        hub.bystanders.notify { _ in reached.record(("told", posted.count)) }
        Task(executorPreference: executor) {
          await hub.bystanders.vote { _ in
            reached.record(("asked", posted.count))
            return true
          }
        }
      }
    }
    post()
    stage.run()
    #expect(probes.allSatisfy { $0.log.history == Array(0..<total) })
    #expect(Set(reached.history.map(\.event)) == ["told", "asked"])
    #expect(reached.history.allSatisfy { $0.posted < total / 2 }, "\(reached.history)")
  }

  /// A clock whose `sleep` fails at once.
  private struct SleeplessClock: Clock {
    var now: ManualClock.Instant { .init() }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      throw Refusal()
    }
  }

  @Test("The clock jumps, or cannot sleep", arguments: [false, true])
  func clock(isSleepless: Bool) {
    let slow = Recorder<String>()
    let stage = Stage { configuration in
      if isSleepless { configuration.clock = SleeplessClock() }
      configuration.slowAfter = .seconds(10)
      configuration.on(.slow) { slow.record($0.subscriber) }
    }
    stage.hub.cast(3)
    func ask(_ gate: Gate) -> Stage.Act<[String]> {
      stage.start { hub in
        await hub.listeners.ask(combining: .all(), within: .seconds(5), absent: .counts(as: "late"))
        { probe in
          if probe.name == "1" { await gate.pass() }
          return probe.name
        }
      }
    }
    let early = ask(gate)
    if isSleepless {
      // Every deadline is now, whoever has been asked by then, and nobody is slow.
      #expect(early.result?[1] == "late" && slow.history == [])
      #expect(stage.perform { await $0.drain(within: .seconds(5)) }?.subscribers.count == 1)
      return stage.open(gate)
    }
    // Forward: what is not done is late, and slow.
    stage.advance(by: .seconds(4))
    #expect(early.result == nil)
    stage.advance(by: .seconds(3600))
    #expect(early.result == ["0", "late", "2"] && slow.count == 1)
    // Back: the deadline is as much farther off, and ends nothing that answers.
    let gates = [Gate(), Gate()]
    let (late, answered) = (ask(gates[0]), ask(gates[1]))
    stage.advance(by: .seconds(-3600))
    stage.advance(by: .seconds(3604))
    stage.open(gates[1])
    #expect(late.result == nil && answered.result == ["0", "1", "2"])
    stage.advance(by: .seconds(1))
    #expect(late.result == ["0", "late", "2"])
    for gate in gates + [gate] { stage.open(gate) }
    #expect(stage.isDrained)
    stage.advance(by: .seconds(10))
    #expect(stage.alarms == 0 && stage.clock.sleepers == 0)
  }
}

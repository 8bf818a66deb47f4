import Delegation
import Foundation
import Testing

/// What the dead, the hung and the late cost.
extension Guarantee04Tests {
  #if os(Linux)
    /// What is done many times, and leaves nothing behind.
    enum Habit: String, CaseIterable, Codable {
      case subscribersDie, nobodyHears, hubWakes, deadlinesCome, streamsEnd

      /// How often; it may take 500 kB, half of what it would if each left a little.
      var times: Int {
        switch self {
        case .deadlinesCome: 1_500
        case .streamsEnd: 3_000
        default: 10_000
        }
      }

      func perform(_ count: Int, on hub: DelegateHub, _ clock: ManualClock) async {
        let events = Events<Int>(of: hub)
        if self == .nobodyHears { hub.subscribe(Probe(), to: Bystander.self) }
        for number in 0..<count {
          switch self {
          case .subscribersDie: hub.subscribe(Probe(), to: Bystander.self)
          case .nobodyHears:
            let cargo = Array(repeating: UInt8(1), count: 256)
            hub.bystanders.notify { _ in withExtendedLifetime(cargo) {} }
          case .hubWakes: await hub.listeners.notifyAndWait { _ in }
          case .deadlinesCome:
            async let vote = hub.listeners.vote(within: .seconds(1), absent: .abstains) { _ in
              while !Task.isCancelled { await Task.yield() }
              return true
            }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(1))
            _ = await vote
            await clock.silence()
          case .streamsEnd:
            let stream = events.registry.stream()
            events.post(number)
            _ = await stream.next()
          }
          if number % 1000 == 0 { await hub.drain() }
        }
      }
    }

    @Test("resident memory stays level, whatever goes on for long", arguments: Habit.allCases)
    func residentMemory(habit: Habit) async {
      // In a process of its own: memory is the process's.
      await #expect(processExitsWith: .success) { [habit] in
        let clock = ManualClock()
        let hub = DelegateHub(clock)
        hub.cast(1)
        await habit.perform(habit.times / 3, on: hub, clock)
        var growth = 500
        // A thread takes room once, and a leak each time.
        for _ in 0..<3 where growth >= 500 {
          let before = residentKilobytes()
          await habit.perform(habit.times, on: hub, clock)
          growth = residentKilobytes() - before
        }
        #expect(growth < 500, "grew by \(growth) kB")
      }
    }
  #endif

  /// What is suspended while the others come and go: a handler, or a task that one left behind.
  enum Suspended: CaseIterable {
    case handler, lateVoter, needlessVoter, lateInCollect
    case taskOfHandler, taskOfVoter, taskInTurn

    /// Has the one at a place suspended at a gate, and returns when nothing else is to be done.
    func play(_ stage: Stage, at place: Int, _ gate: Gate) {
      let name = "\(place)"
      let hang: @Sendable (any Listener) async -> Bool = { probe in
        if probe.name == name { await gate.pass() }
        return true
      }
      let leaveBehind: @Sendable (any Listener) -> Bool = { [executor = stage.executor] probe in
        if probe.name == name { Task(executorPreference: executor) { await gate.pass() } }
        return true
      }
      _ = stage.start { hub in
        let all = hub.listeners
        switch self {
        case .handler: all.notify { _ = await hang($0) }
        case .lateVoter: _ = await all.vote(within: .seconds(1), absent: .abstains, hang)
        case .lateInCollect: _ = await all.collect(within: .seconds(1), hang)
        case .needlessVoter:
          let decider = place == 0 ? "1" : "0"
          _ = await all.vote { probe in
            if probe.name == decider { await gate.arrivals() }
            return await hang(probe) && probe.name != decider
          }
        case .taskOfHandler:
          all.notify { probe in
            await Task.yield()
            _ = leaveBehind(probe)
          }
        case .taskOfVoter:
          _ = await all.vote { probe in
            await Task.yield()
            return leaveBehind(probe)
          }
        case .taskInTurn:
          _ = await all.askInTurn { probe -> Int? in
            await Task.yield()
            return leaveBehind(probe) ? nil : 1
          }
        }
      }
      stage.advance(by: .seconds(1))
    }
  }

  @Test("one that is suspended keeps a subscription or two", arguments: Suspended.allCases)
  func suspended(_ suspended: Suspended) {
    for place in [0, 25, 49] {
      let (stage, gate) = (Stage(), Gate())
      let obituaries = subscribe(50, to: stage.hub)
      suspended.play(stage, at: place, gate)
      #expect(gate.arrived > 0)
      #expect(forgotten(by: stage.hub, obituaries) >= 48, "\(place)")
      stage.open(gate)
    }
  }

  @Test("the last one asked in turn keeps none before it, nor one that waits for its executor")
  func last() {
    let (gate, elsewhere) = (Gate(), ManualExecutor())
    let inTurn = subscribe(50, to: stage.hub)
    let asking = stage.start { hub in
      await hub.listeners.askInTurn { probe -> Int? in
        if probe.name == "49" { await gate.pass() }
        return nil
      }
    }
    #expect(forgotten(by: stage.hub, inTurn) >= 48)
    stage.open(gate)
    #expect(asking.result == .some(nil))

    stage.hub.subscribe(Probe("elsewhere"), to: Listener.self, hold: .strongly, on: elsewhere)
    let decided = subscribe(50, to: stage.hub)
    #expect(stage.perform { await $0.listeners.vote { await $0.isNot("49") } } == false)
    #expect(forgotten(by: stage.hub, decided) >= 48)
    elsewhere.run()
  }

  /// Subscribes many, and gives obituaries of their subscriptions.
  private func subscribe(_ count: Int, to hub: DelegateHub) -> [Obituary] {
    Probe.many(count).map { hub.subscribe($0, to: Listener.self, hold: .strongly).obituary }
  }

  /// How many subscriptions a hub has forgotten when all have ended.
  private func forgotten(by hub: DelegateHub, _ obituaries: [Obituary]) -> Int {
    hub.listeners.registry.unsubscribeAll()
    // The next look at the list drops those that are gone.
    for _ in 0..<2 { _ = hub.listeners.count }
    return obituaries.count { $0.isDead }
  }
}

extension Listener {
  fileprivate func isNot(_ name: String) async -> Bool { self.name != name }
}

#if os(Linux)
  /// The process's resident memory.
  private func residentKilobytes() -> Int {
    let status = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii)
    let pages = status?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return (pages ?? 0) * 4
  }
#endif

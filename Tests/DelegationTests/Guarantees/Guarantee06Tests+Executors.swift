import Delegation
import Dispatch
import Testing

/// What runs where, and what it costs on an executor of one's own.
extension Guarantee06Tests {
  @Test(
    "the first job on a subscriber's executor runs the whole handler, and nobody waits for another one"
  )
  func oneJob() async {
    for isQueue in [false, true] {
      for reach in Reach.allCases {
        for count in [1, 3] {
          let (stage, lane, places) = (Stage(), Lane("subscriber's"), Recorder<String>())
          let own: any TaskExecutor =
            isQueue ? DispatchQueueExecutor(lane.queue) : LaneTaskExecutor(lane)
          for probe in Probe.many(count) {
            let executor = probe.name == "\(count / 2)" ? own : nil
            stage.hub.subscribe(probe, to: Listener.self, hold: .strongly, on: executor)
          }
          lane.queue.suspend()
          let call = stage.start { hub in
            await reach(hub, suspending: false) { _ in places.record(Lane.current) }
            await hub.drain()
          }
          #expect(!places.history.contains("subscriber's"))
          // What has come by now is run, and nothing that comes after that.
          let isSuspended = Gate()
          lane.queue.async {
            lane.queue.suspend()
            isSuspended.arrive()
          }
          lane.queue.resume()
          await isSuspended.arrivals()
          stage.run()
          let where_ = "\(reach) among \(count)"
          #expect(places.history.filter { $0 == "subscriber's" }.count == 1, "\(where_)")
          #expect(call.result != nil, "\(where_)")
          // Those of a queue cannot be counted.
          if !isQueue { #expect(lane.jobs == 1, "\(where_)") }
          lane.queue.resume()
        }
      }
    }
  }

  @Test(
    "many subscribers on one executor cost one job for many, not one each",
    arguments: [false, true])
  func oneJobForMany(awaits: Bool) async {
    let (hub, lane) = (DelegateHub(), Lane("shared"))
    let executor = LaneTaskExecutor(lane)
    let probes = hub.cast(1_000, on: executor)
    lane.hold(.suspended)
    for number in 0..<3 {
      if awaits {
        hub.listeners.notify { probe in await probe.note(number) }
      } else {
        hub.listeners.notify { $0.log.record(number) }
      }
    }
    // The hub's own worker has sent them all when it has come to the last one, who lives elsewhere.
    let last = Probe("last")
    hub.subscribe(last, to: Listener.self)
    hub.listeners.notify { if $0.name == "last" { $0.log.record(1) } }
    #expect(await last.log.history(of: 1) == [1])
    lane.release()
    await hub.drain()
    #expect(probes.allSatisfy { $0.log.history == [0, 1, 2] })
    #expect(lane.jobs < 50, "for 1,000 subscribers")
  }

  @Test("on an executor that isolates tasks to itself the handler runs all the same")
  func isolating() async {
    for reach in Reach.allCases {
      let (hub, places) = (DelegateHub(), Recorder<String>())
      for probe in Probe.many(3) {
        let executor = probe.name == "1" ? LaneExecutor(Lane("subscriber's")) : nil
        hub.subscribe(probe, to: Listener.self, hold: .strongly, on: executor)
      }
      await reach(hub) { places.record("\($0.name) \(Lane.current)") }
      await hub.drain()
      #expect(Set(places.history) == ["0 pool", "1 subscriber's", "2 pool"], "\(reach)")
    }
  }

  /// What runs somewhere when a hub is called.
  enum Role: CaseIterable {
    /// The combiner's beginning: what the call does before anybody is asked.
    case beginning
    case handler
    /// The combiner's taking of an answer.
    case counting
    /// The combiner's end, when a deadline by the real clock decides.
    case deadline
    /// What comes after the call.
    case completion
  }

  /// Which executors there are beside the caller's.
  struct Executors: CaseIterable {
    let hubHasOne: Bool
    let subscriberHasOne: Bool
    static let allCases = [false, true].flatMap { hub in
      [false, true].map { Executors(hubHasOne: hub, subscriberHasOne: $0) }
    }

    /// The lanes that code of a role may run on.
    func places(of role: Role, in call: Noted, for caller: VisitorKind) -> Set<String> {
      let place = place(of: role, for: caller)
      // What runs in the caller's task runs where that prefers.
      let isInPlace = role == .handler || role == .counting
      return isInPlace && place == "pool" && call.mayRunInPlace
        ? [place, caller == .preferring || caller == .handler ? "caller's" : place] : [place]
    }

    private func place(of role: Role, for caller: VisitorKind) -> String {
      let callers = [.plain: "pool", .mainActor: "main"][caller] ?? "caller's"
      return switch role {
      // In the caller's task, which an actor's runs on no executor of its own.
      case .beginning: caller == .actor || caller == .mainActor ? "pool" : callers
      case .handler, .counting: subscriberHasOne ? "subscriber's" : hubHasOne ? "hub's" : "pool"
      case .deadline: caller == .actor || caller == .mainActor ? "pool" : callers
      case .completion: callers
      }
    }
  }

  /// A combiner that notes where it runs.
  private struct Witness: Combiner {
    let seen: Recorder<(Role, String)>
    var last = Role.counting

    mutating func begin(asking count: Int) -> Bool? {
      seen.record((.beginning, Lane.current))
      return nil
    }
    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      seen.record((.counting, Lane.current))
      return nil
    }
    mutating func finish() -> Bool {
      seen.record((last, Lane.current))
      return true
    }
  }

  /// A call, which notes where everything runs.
  enum Noted: CaseIterable {
    case notify, notifyAndWait, vote, voteInTime, voteTooLate, collect, askInTurn, askInTurnInTime
    case pass

    /// Whether it may be asked in the caller's task, as there is no deadline.
    var mayRunInPlace: Bool { [.vote, .collect, .askInTurn, .pass].contains(self) }

    var roles: Set<Role> {
      switch self {
      case .vote, .voteInTime: [.beginning, .handler, .counting, .completion]
      // Whether anybody has begun by then is the machine's business.
      case .voteTooLate: [.beginning, .deadline, .completion]
      default: [.handler, .completion]
      }
    }
  }

  @Test(
    "every handler, count and deadline runs where the page says, and the caller goes on where it was",
    arguments: VisitorKind.allCases)
  func places(caller: VisitorKind) async {
    for executors in Executors.allCases {
      for call in Noted.allCases {
        for count in [1, 3] {
          let seen = Recorder<(Role, String)>()
          let hub = DelegateHub(
            .init(
              executor: executors.hubHasOne ? LaneTaskExecutor(Lane("hub's")) : nil,
              onIncident: { _ in }))
          hub.cast(
            count, on: executors.subscriberHasOne ? LaneTaskExecutor(Lane("subscriber's")) : nil)
          await Visitor(caller).perform { _ in
            await Self.make(call, of: hub, noting: seen)
            seen.record((.completion, Lane.current))
          }.value
          await hub.drain()
          for role in call.roles {
            let places = Set(seen.history.compactMap { $0.0 == role ? $0.1 : nil })
            #expect(
              !places.isEmpty
                && places.isSubset(of: executors.places(of: role, in: call, for: caller)),
              "\(role) of \(call) among \(count) on \(places), \(executors)")
          }
        }
      }
    }
  }

  @Test("by a test's clock a deadline is the hub's executor's, and so is a call from elsewhere")
  func byATestsClock() {
    let (stage, callers) = (Stage(), ManualExecutor())
    stage.hub.cast(1)
    let vote = callers.start { [hub = stage.hub] in await hub.listeners.vote { _ in true } }
    // Nothing happens before one of them is told to run.
    while vote.value == nil { #expect(stage.executor.run() + callers.run() > 0) }
    #expect(vote.value == true)
  }

  nonisolated(nonsending) private static func make(
    _ call: Noted, of hub: DelegateHub, noting seen: Recorder<(Role, String)>
  ) async {
    @Sendable nonisolated(nonsending) func answer() async -> Bool {
      seen.record((.handler, Lane.current))
      await Task.yield()
      seen.record((.handler, Lane.current))
      return true
    }
    let all = hub.listeners
    switch call {
    case .notify:
      all.notify { _ in seen.record((.handler, Lane.current)) }
      all.notify { _ in _ = await answer() }
      await hub.drain()
    case .notifyAndWait: await all.notifyAndWait { _ in _ = await answer() }
    case .vote: _ = await all.vote(by: Witness(seen: seen)) { _ in await answer() }
    case .voteInTime:
      _ = await all.vote(by: Witness(seen: seen), within: .seconds(3600), absent: .abstains) { _ in
        await answer()
      }
    case .voteTooLate:
      let gate = Gate()
      _ = await all.vote(
        by: Witness(seen: seen, last: .deadline), within: .milliseconds(5), absent: .abstains
      ) { _ in
        await gate.pass()
        return true
      }
      gate.open()
    case .collect: _ = await all.collect { _ in await answer() }
    case .askInTurn: _ = await all.askInTurn { _ in await answer() ? nil : 1 }
    case .askInTurnInTime:
      _ = await all.askInTurn(within: .seconds(3600), absent: .abstains) { _ in
        await answer() ? nil : 1
      }
    case .pass: _ = await all.pass(1) { _, value in await answer() ? value : nil }
    }
  }
}

extension Listener {
  fileprivate func note(_ number: Int) async { log.record(number) }
}

import Testing

@testable import Delegation

/// What `Configuration.executor` and the page *Where code runs* say: where what runs.
@Suite("Guarantee 6: where what runs", .inTurn)
struct Guarantee06WhereTests {
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
  enum Executors: CaseIterable {
    case none, hubs, subscribers, both

    var hubHasOne: Bool { self == .hubs || self == .both }
    var subscriberHasOne: Bool { self == .subscribers || self == .both }
  }

  enum Place: String {
    case pool, hubs, subscribers, callers
    /// Where the caller's task runs what belongs to no actor.
    case tasks
  }

  static let table: [Role: [Executors: Place]] = [
    .beginning: [.none: .tasks, .hubs: .tasks, .subscribers: .tasks, .both: .tasks],
    .handler: [.none: .pool, .hubs: .hubs, .subscribers: .subscribers, .both: .subscribers],
    .counting: [.none: .pool, .hubs: .hubs, .subscribers: .subscribers, .both: .subscribers],
    .deadline: [.none: .pool, .hubs: .pool, .subscribers: .pool, .both: .pool],
    .completion: [.none: .callers, .hubs: .callers, .subscribers: .callers, .both: .callers],
  ]

  /// Where callers are.
  static let callers: [VisitorKind: String] = [
    .plain: "pool", .preferring: "caller's", .actor: "caller's", .mainActor: "main",
    .handler: "caller's",
  ]

  /// Notes where code runs, by its role.
  private final class Sightings: Sendable {
    let places = Lock<[Role: Set<String>]>([:])

    func note(_ role: Role) {
      let place = Lane.current
      _ = places.withLock { $0[role, default: []].insert(place) }
    }
  }

  /// A combiner that notes where it runs.
  private struct Witness: Combiner {
    let sightings: Sightings
    var last = Role.counting

    mutating func begin(asking count: Int) -> Bool? {
      sightings.note(.beginning)
      return nil
    }

    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      sightings.note(.counting)
      return nil
    }

    mutating func finish() -> Bool {
      sightings.note(last)
      return true
    }
  }

  /// A call, which notes where everything runs.
  enum Noted: CaseIterable {
    case notify, notifyAndWait, vote, voteInTime, voteTooLate, collect, askInTurn, askInTurnInTime
    case pass

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
    "every handler, count and deadline runs where the table says, and the caller goes on where it was",
    arguments: VisitorKind.allCases, Executors.allCases)
  func places(caller: VisitorKind, executors: Executors) async {
    for call in Noted.allCases {
      for count in [1, 3] {
        let sightings = Sightings()
        let hub = DelegateHub(
          .init(
            executor: executors.hubHasOne ? LaneTaskExecutor(Lane("hub's")) : nil,
            onIncident: { _ in }))
        let own = executors.subscriberHasOne ? LaneTaskExecutor(Lane("subscriber's")) : nil
        let probes = Probe.many(count)
        for probe in probes { hub.subscribe(probe, to: Listener.self, on: own) }
        await Visitor(caller).perform { _ in
          await Self.make(call, of: hub, noting: sightings)
          sightings.note(.completion)
        }.value
        await hub.drain()
        let seen = sightings.places.withLock { $0 }
        for role in call.roles {
          #expect(
            seen[role] == Self.place(of: role, for: caller, executors).map { [$0] },
            "\(role) of \(call) among \(count)")
        }
      }
    }
  }

  @Test("a caller on the hub's own executor stays there but for handlers that are elsewhere")
  func onTheHubs() async {
    for call in Noted.allCases {
      let sightings = Sightings()
      let executor = LaneTaskExecutor(Lane("hub's"))
      let hub = DelegateHub(.init(executor: executor, onIncident: { _ in }))
      let probes = Probe.many(3)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      await Task(executorPreference: executor) {
        await Self.make(call, of: hub, noting: sightings)
        sightings.note(.completion)
      }.value
      await hub.drain()
      let seen = sightings.places.withLock { $0 }
      for role in call.roles {
        #expect(seen[role] == ["hub's"], "\(role) of \(call)")
      }
    }
  }

  @Test("by a test's clock a deadline is the hub's executor's, and so is a call from elsewhere")
  func byATestsClock() {
    let (hubs, callers) = (ManualExecutor(), ManualExecutor())
    let hub = DelegateHub(on: hubs, clock: ManualClock())
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let vote = callers.start { await hub[Listener.self].vote() { _ in true } }
    // Nothing happens before one of them is told to run.
    while vote.value == nil {
      #expect(hubs.run() + callers.run() > 0)
    }
    #expect(vote.value == true)
    withExtendedLifetime(probe) {}
  }

  private static func place(
    of role: Role, for caller: VisitorKind, _ executors: Executors
  ) -> String? {
    switch table[role]?[executors] {
    case .pool: "pool"
    case .hubs: "hub's"
    case .subscribers: "subscriber's"
    case .callers: callers[caller]
    case .tasks: caller == .actor || caller == .mainActor ? "pool" : callers[caller]
    case nil: nil
    }
  }

  nonisolated(nonsending) private static func make(
    _ call: Noted, of hub: DelegateHub, noting sightings: Sightings
  ) async {
    @Sendable nonisolated(nonsending) func answer() async -> Bool {
      sightings.note(.handler)
      await Task.yield()
      sightings.note(.handler)
      return true
    }
    switch call {
    case .notify:
      hub[Listener.self].notify() { _ in sightings.note(.handler) }
      hub[Listener.self].notify() { _ in _ = await answer() }
      await hub.drain()
    case .notifyAndWait:
      await hub[Listener.self].notifyAndWait() { _ in _ = await answer() }
    case .vote:
      _ = await hub[Listener.self].vote(by: Witness(sightings: sightings)) { _ in await answer() }
    case .voteInTime:
      _ = await hub[Listener.self].vote(by: Witness(sightings: sightings), within: .seconds(3600), absent: .abstains
      ) { _ in await answer() }
    case .voteTooLate:
      let gate = Gate()
      _ = await hub[Listener.self].vote(by: Witness(sightings: sightings, last: .deadline),
        within: .milliseconds(5), absent: .abstains
      ) { _ in
        await gate.pass()
        return true
      }
      gate.open()
    case .collect:
      _ = await hub[Listener.self].collect() { _ in await answer() }
    case .askInTurn:
      _ = await hub[Listener.self].askInTurn() { _ in await answer() ? nil : 1 }
    case .askInTurnInTime:
      _ = await hub[Listener.self].askInTurn(within: .seconds(3600), absent: .abstains) { _ in
        await answer() ? nil : 1
      }
    case .pass:
      _ = await hub[Listener.self].pass(1) { _, value in await answer() ? value : nil }
    }
  }
}

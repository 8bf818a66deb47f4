import Testing

@testable import Delegation

/// Objects take over ids from each other, while notifications are posted in all forms and handled on other threads.
@Suite("Storm: take-overs, limits, further protocols and interceptors", .inTurn(.heavy))
struct TakeOverStormTests {
  @Test("each notification ends in a way that the oracle allows", arguments: seeds(8))
  func model(seed: UInt64) async {
    let run = SeatRun(SeatPlan(seed: seed))
    await run.play()
    for fault in await run.faults() { Issue.record("seed \(seed), \(run.plan): \(fault)") }
  }
}

/// What is the same in all of a run.
private struct SeatPlan: Sendable {
  enum Limits: CaseIterable { case none, oldest, newest }
  enum Conforming: CaseIterable { case all, some, none }
  enum Intercepting: CaseIterable { case not, pausing, keeping }

  static let seats = 3
  static let takeOvers = 400

  let seed: UInt64
  let limits: Limits
  /// The lowest limit that there is, if there is one.
  let limit: Int
  let conforming: Conforming
  let intercepting: Intercepting
  /// Whether objects come back that still handle what was theirs.
  let isReusing: Bool
  /// Whether an older subscription is cancelled when its id has been taken.
  let isCancelling: Bool

  init(seed: UInt64) {
    var dice = Dice(seed: seed)
    self.seed = seed
    limits = Limits.allCases[dice.roll(3)]
    limit = limits == .none ? 1 << 20 : [1, 3, 8][dice.roll(3)]
    conforming = Conforming.allCases[dice.roll(3)]
    intercepting = Intercepting.allCases[dice.roll(3)]
    isReusing = dice.roll(2) == 0
    isCancelling = dice.roll(3) == 0
  }

  func conforms(_ dice: inout Dice) -> Bool {
    conforming == .some ? dice.roll(2) == 0 : conforming == .all
  }

  func policy(_ dice: inout Dice) -> DelegateHub.MailboxPolicy {
    let limit = dice.roll(2) == 0 ? limit : 2 * limit + 1
    return switch limits {
    case _ where dice.roll(3) == 0: .unbounded
    case .oldest: .dropOldest(limit: limit)
    case .newest: .dropNewest(limit: limit)
    case .none: dice.roll(2) == 0 ? .dropOldest(limit: limit) : .dropNewest(limit: limit)
    }
  }

  /// Whether no limit may take a notification from a seat, of as many as were posted.
  func isSafe(_ number: Int, of count: Int) -> Bool {
    switch limits {
    case .none: true
    case .oldest: number >= count - limit
    case .newest: number < limit
    }
  }
}

private protocol Sitting: AnyObject, Sendable {
  var sitter: Sitter { get }
}

private protocol Narrow: AnyObject, Sendable {
  var sitter: Sitter { get }
}

private final class Plain: Sitting {
  let sitter = Sitter(conforms: false)
}

private final class Versatile: Sitting, Narrow {
  let sitter = Sitter(conforms: true)
}

/// What one object has handled.
private final class Sitter: Sendable {
  let conforms: Bool
  private let state = Lock((handled: [Int](), isBusy: false))

  init(conforms: Bool) { self.conforms = conforms }

  var handled: [Int] { state.withLock { $0.handled } }

  /// Notes that a handler begins; returns whether another one runs.
  func begin(_ number: Int) -> Bool {
    state.withLock { state in
      defer { state.isBusy = true }
      state.handled.append(number)
      return state.isBusy
    }
  }

  func end() { state.withLock { $0.isBusy = false } }
}

/// One hub, whose seats are taken over and over.
private final class SeatRun: Sendable {
  private static let pool = ThreadPool(threads: 4)

  let plan: SeatPlan
  private let hub: DelegateHub
  /// Those that have taken each seat, in order.
  private let sitters = Lock([[Sitter]](repeating: [], count: SeatPlan.seats))
  /// Whether each notification that was posted was for those that conform.
  private let posted = Lock<[Bool]>([])
  private let passed = Lock<Set<Int>>([])
  private let (taken, thrown, returned, kept) = (Count(), Count(), Count(), Count())
  private let seen = Recorder<String>()

  init(_ plan: SeatPlan) {
    self.plan = plan
    var configuration = DelegateHub.Configuration()
    configuration.executor = Self.pool
    configuration.onIncident = { _ in }
    let (calls, kept) = (Count(), kept)
    if plan.intercepting != .not {
      configuration.interceptors = [
        Hook { _, next in
          calls.add(1)
          let number = calls.value
          for _ in 0..<number % 3 { await Task.yield() }
          guard plan.intercepting == .keeping, number % 8 == 0 else { return await next() }
          kept.add(1)
          return .notCalled
        }
      ]
    }
    hub = DelegateHub(configuration)
  }

  func play() async {
    var dice = Dice(seed: plan.seed)
    let places = (0..<SeatPlan.seats).map { Seat($0, plan, dice.next()) }
    for place in places { take(place) }
    await withTaskGroup { group in
      for place in places {
        group.addTask(executorPreference: Self.pool) {
          for _ in 0..<SeatPlan.takeOvers {
            self.take(place)
            if place.pauses() { await Task.yield() }
          }
        }
      }
      group.addTask(executorPreference: Self.pool) { await self.post() }
    }
    await hub.drain()
    withExtendedLifetime(places) {}
  }

  /// Has the next object take a seat.
  private func take(_ seat: Seat) {
    seat.change { object, policy in
      sitters.withLock { $0[seat.number].append(object.sitter) }
      return hub.subscribe(object, to: Sitting.self, id: seat.number, mailbox: policy)
    }
    taken.add(1)
  }

  /// Posts as long as seats are taken, and not much faster.
  private func post() async {
    var dice = Dice(seed: plan.seed &+ 1)
    let narrow = hub[Sitting.self].conforming(to: Narrow.self)
    while taken.value < SeatPlan.seats * (SeatPlan.takeOvers + 1) {
      for _ in 0..<dice.roll(6) {
        let form = dice.roll(12)
        let number = posted.withLock { posted in
          posted.append(form < 4)
          return posted.count - 1
        }
        switch form {
        case 0, 1: narrow.notify { try self.handle(number, $0.sitter) }
        case 2, 3: narrow.notify { try await self.handleSlowly(number, $0.sitter) }
        case 4: hub[Sitting.self].notify() { @MainActor in try self.handle(number, $0.sitter) }
        case 5:
          let left = await hub[Sitting.self].notifyAndWait() { try self.handle(number, $0.sitter) }
          passed.withLock { _ = $0.insert(number) }
          if !left.isEmpty { seen.record("\(number) is left: \(left)") }
        case 6, 7, 8:
          hub[Sitting.self].notify() { try await self.handleSlowly(number, $0.sitter) }
        default: hub[Sitting.self].notify() { try self.handle(number, $0.sitter) }
        }
      }
      repeat { await Task.yield() } while posted.withLock { $0.count } > 4 * taken.value + 100
    }
  }

  private func handle(_ number: Int, _ sitter: Sitter) throws {
    begin(number, sitter)
    try end(number, sitter)
  }

  private func handleSlowly(_ number: Int, _ sitter: Sitter) async throws {
    begin(number, sitter)
    for _ in 0..<number % 3 { await Task.yield() }
    try end(number, sitter)
  }

  private func begin(_ number: Int, _ sitter: Sitter) {
    if sitter.begin(number) { seen.record("\(number) begins while its object handles another one") }
    if passed.withLock({ $0.contains(number) }) { seen.record("\(number) begins too late") }
    if !sitter.conforms, posted.withLock({ $0[number] }) {
      seen.record("\(number) is handled by one that does not conform")
    }
  }

  private func end(_ number: Int, _ sitter: Sitter) throws {
    sitter.end()
    if number % 16 == 5 {
      thrown.add(1)
      throw Refusal()
    }
    returned.add(1)
  }

  // MARK: The oracle

  /// What came to be that may not, when all is over.
  func faults() async -> [String] {
    var faults = seen.history
    let narrow = posted.withLock { $0 }
    var missing = 0
    for (seat, sitters) in sitters.withLock({ $0 }).enumerated() {
      // Each of them has its notifications in order; and all of theirs are, for who comes later has later ones.
      let histories = sitters.map(\.handled)
      for history in plan.isReusing ? histories : [histories.flatMap(\.self)]
      where zip(history, history.dropFirst()).contains(where: { $0 >= $1 }) {
        faults.append("at \(seat) they are out of order: \(history)")
      }
      var objects: Set<ObjectIdentifier> = []
      let handled = sitters.filter { objects.insert(ObjectIdentifier($0)).inserted }
        .flatMap(\.handled)
      if Set(handled).count < handled.count { faults.append("at \(seat) one is handled twice") }
      missing += Set(narrow.indices).subtracting(handled).count {
        plan.isSafe($0, of: narrow.count) && (!narrow[$0] || plan.conforming == .all)
      }
    }
    let counts = await hub.statistics().counts
    return faults
      + disagreements(counts, addressed: narrow.count * SeatPlan.seats, missing: missing)
  }

  private func disagreements(
    _ counts: DelegateHub.Statistics.Counts, addressed: Int, missing: Int
  ) -> [String] {
    let ended =
      counts.handled + counts.failed + counts.passedOver + counts.dropped + counts.cancelled
    let isRight: KeyValuePairs = [
      "all have ended": ended == addressed && counts.addressed == addressed,
      "those that threw have failed": counts.failed == thrown.value,
      "those that returned were handled, or kept away":
        (0...kept.value).contains(counts.handled - returned.value),
      "only a limit drops": counts.dropped == 0 || plan.limits != .none,
      "only who does not conform is passed over":
        counts.passedOver <= (plan.conforming == .all ? kept.value : .max),
      "nobody dies before": counts.expired == 0,
      "nothing else is cancelled": counts.cancelled == 0 || plan.isCancelling,
      "none is missing": missing <= kept.value + counts.cancelled,
    ]
    return isRight.filter { !$0.value }.map { "not so: \($0.key): \(missing) missing, \(counts)" }
  }
}

/// One seat, which one task has taken over and over.
///
/// `@unchecked Sendable`: only that task uses it.
private final class Seat: @unchecked Sendable {
  let number: Int
  private let plan: SeatPlan
  private var dice: Dice
  private let regulars: [any Sitting]
  private var present: (any Sitting)?
  private var subscription: DelegateHub.Subscription?

  init(_ number: Int, _ plan: SeatPlan, _ seed: UInt64) {
    self.number = number
    self.plan = plan
    dice = Dice(seed: seed)
    regulars = [Self.object(plan, &dice), Self.object(plan, &dice), Self.object(plan, &dice)]
  }

  private static func object(_ plan: SeatPlan, _ dice: inout Dice) -> any Sitting {
    plan.conforms(&dice) ? Versatile() : Plain()
  }

  /// Chooses who comes next, and seats it; the one before is released after that.
  func change(
    _ sit: (any Sitting, DelegateHub.MailboxPolicy) -> DelegateHub.Subscription
  ) {
    let others = regulars.filter { $0 !== present }
    let next = plan.isReusing ? others[dice.roll(others.count)] : Self.object(plan, &dice)
    let former = subscription
    subscription = sit(next, plan.policy(&dice))
    if plan.isCancelling { former?.cancel() }
    present = next
  }

  /// Whether others are to have a turn.
  func pauses() -> Bool { dice.roll(3) == 0 }
}

import Delegation
import Synchronization

protocol Sitting: AnyObject, Sendable {
  var sitter: Sitter { get }
}

/// Optional beside `Sitting`.
protocol Standing: AnyObject, Sendable {
  var sitter: Sitter { get }
}

/// What one object has handled.
final class Sitter: Sendable {
  let seat: Int
  let conforms: Bool
  private let world: World
  private let state = Mutex((handled: [Int](), isBusy: false))

  init(_ seat: Int, conforms: Bool, in world: World) {
    (self.seat, self.conforms, self.world) = (seat, conforms, world)
  }

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

/// Objects take over ids from each other while notifications are posted in all forms and calls are made, in hubs with and
/// without limits and interceptors: each notification has to end in a way that an oracle allows, and each call has to
/// come to whoever has the seat, once.
final class Seats: Part {
  static let name = "seats"

  private let world: World
  private let (hubs, taken, posted) = (Counter(), Counter(), Counter())

  init(in world: World) { self.world = world }

  func run() async {
    await world.act(Self.name, max(1, world.tasks / 4)) { [self] _, dice in
      repeat {
        let round = SeatRound(in: world, &dice)
        await round.play()
        round.check()
        hubs.add()
        taken.add(round.taken.value)
        posted.add(round.posted.count)
      } while !world.limits.isReached
    }
  }

  func audit() async -> String {
    "\(hubs.value.short) hubs, \(taken.value.short) take-overs beside \(posted.value.short) posts: none is lost, "
      + "doubled or misplaced"
  }
}

/// One hub, whose seats are taken over and over.
private final class SeatRound: Sendable {
  private enum Intercepting { case not, pausing, keeping }

  private final class Plain: Sitting {
    let sitter: Sitter
    init(_ sitter: Sitter) { self.sitter = sitter }
  }

  private final class Versatile: Sitting, Standing {
    let sitter: Sitter
    init(_ sitter: Sitter) { self.sitter = sitter }
  }

  private struct Pausing: DelegateHub.Interceptor {
    let isKeeping: Bool
    let (calls, kept): (Counter, Counter)

    nonisolated(nonsending) func intercept(
      _ call: DelegateHub.HandlerCall,
      next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
    ) async -> DelegateHub.HandlerOutcome {
      let number = calls.add()
      for _ in 0..<number % 3 { await Task.yield() }
      guard isKeeping, number % 8 == 0, [.notify, .notifyAndWait].contains(call.call) else {
        return await next()
      }
      kept.add()
      return .notCalled
    }
  }

  private static let seats = 3
  private static let takeOvers = 200

  let taken = Counter()
  private let world: World
  private let hub: DelegateHub
  private let limit: Int?
  /// How many objects of ten conform to the further protocol.
  private let conforming: Int
  private let isCancelling: Bool
  private let intercepting: Intercepting
  private let seed: UInt64
  /// Those that have taken each seat, in order.
  private let sitters = Mutex([[Sitter]](repeating: [], count: SeatRound.seats))
  /// Whether each notification that was posted was for those that conform.
  private let notifications = Mutex<[Bool]>([])
  private let passed = Mutex<Set<Int>>([])
  private let (thrown, returned, kept, onMain) = (Counter(), Counter(), Counter(), Counter())

  var posted: [Bool] { notifications.withLock { $0 } }

  init(in world: World, _ dice: inout Dice) {
    self.world = world
    limit = dice.hits(2) ? [1, 3, 8][dice.roll(3)] : nil
    conforming = [0, 5, 10][dice.roll(3)]
    isCancelling = dice.hits(3)
    seed = dice.next()
    var configuration = DelegateHub.Configuration(onIncident: { _ in })
    intercepting = [.not, .pausing, .keeping][dice.roll(3)]
    if intercepting != .not {
      configuration.interceptors = [
        Pausing(isKeeping: intercepting == .keeping, calls: Counter(), kept: kept)
      ]
    }
    hub = DelegateHub(configuration)
  }

  func play() async {
    var dice = Dice(seed: seed)
    var objects = [(any Sitting)?](repeating: nil, count: Self.seats)
    var subscriptions = [DelegateHub.Subscription?](repeating: nil, count: Self.seats)
    for seat in 0..<Self.seats {
      (objects[seat], subscriptions[seat]) = take(seat, &dice)
    }
    let (first, tickets) = (objects, subscriptions)
    await withTaskGroup { group in
      for seat in 0..<Self.seats {
        var dice = Dice(seed: dice.next())
        group.addTask { [self] in
          var (object, subscription) = (first[seat], tickets[seat])
          for _ in 0..<Self.takeOvers {
            let former = subscription
            let next = take(seat, &dice)
            subscription = next.1
            if isCancelling { former?.cancel() }
            // The one before is released after it has lost its seat.
            object = next.0
            if dice.hits(3) { await Task.yield() }
          }
          await hub.drain()
          withExtendedLifetime(object) {}
        }
      }
      let (one, other) = (dice.next(), dice.next())
      group.addTask { [self] in await post(Dice(seed: one)) }
      group.addTask { [self] in await call(Dice(seed: other)) }
    }
    await hub.drain()
  }

  private func take(
    _ seat: Int, _ dice: inout Dice
  ) -> (any Sitting, DelegateHub.Subscription) {
    let sitter = Sitter(seat, conforms: dice.roll(10) < conforming, in: world)
    let object: any Sitting = sitter.conforms ? Versatile(sitter) : Plain(sitter)
    sitters.withLock { $0[seat].append(sitter) }
    let policy: DelegateHub.MailboxPolicy =
      if let limit, !dice.hits(3) { .dropOldest(limit: dice.hits(2) ? limit : 2 * limit) } else {
        .unbounded
      }
    let subscription = hub.subscribe(
      object, to: (any Sitting).self, id: seat, hold: .strongly, mailbox: policy)
    taken.add()
    _ = world.limits.take()
    world.tally.count(.takeOver)
    return (object, subscription)
  }

  private var isOver: Bool { taken.value >= Self.seats * (Self.takeOvers + 1) }

  /// Posts as long as seats are taken, and not much faster.
  private func post(_ dice: Dice) async {
    var dice = dice
    let delegates = hub[(any Sitting).self]
    let narrow = delegates.conforming(to: (any Standing).self)
    while !isOver {
      for _ in 0..<dice.roll(6) {
        let form = dice.roll(12)
        let number = notifications.withLock { posted in
          posted.append(form < 4)
          return posted.count - 1
        }
        switch form {
        case 0, 1: narrow.notify { try self.handle(number, $0.sitter) }
        case 2, 3: narrow.notify { try await self.handleSlowly(number, $0.sitter) }
        case 4:
          onMain.add()
          delegates.notify { @MainActor in try self.handle(number, $0.sitter) }
        case 5:
          let outcome = await delegates.notifyAndWait { try self.handle(number, $0.sitter) }
          passed.withLock { _ = $0.insert(number) }
          check(
            outcome.addressed == Self.seats && outcome.left.isEmpty
              && outcome.handled + outcome.failed + outcome.missed == Self.seats,
            "an outcome does not add up: \(outcome)")
        case 6, 7, 8: delegates.notify { try await self.handleSlowly(number, $0.sitter) }
        default: delegates.notify { try self.handle(number, $0.sitter) }
        }
      }
      repeat { await Task.yield() } while posted.count > 4 * taken.value + 100
    }
  }

  /// Calls whoever has the seats: nobody is called twice for one seat, and no seat is left out.
  private func call(_ dice: Dice) async {
    var dice = dice
    let delegates = hub[(any Sitting).self]
    while !isOver {
      var seats: [Int]
      switch dice.roll(4) {
      case 0:
        seats = []
        delegates.forEach { seats.append($0.sitter.seat) }
      case 1:
        seats = await delegates.ask(combining: .all()) { $0.sitter.seat }
      case 2:
        seats = await delegates.pass([]) { $1 + [$0.sitter.seat] } ?? []
      default:
        let replies = await delegates.collect { sitting in
          await Task.yield()
          return sitting.sitter.seat
        }
        seats = replies.compactMap { try? $0.result.get() }
      }
      // An end that is not a take-over leaves the seat empty only if it comes before the heir.
      check(
        seats.sorted() == Array(0..<Self.seats),
        "a call came to the seats \(seats.sorted()) of \(Self.seats)")
      await Task.yield()
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
    check(!sitter.begin(number), "one begins while its object handles another one")
    check(!passed.withLock { $0.contains(number) }, "one begins after all were said to have ended")
    check(
      sitter.conforms || !notifications.withLock { $0[number] },
      "one is handled by an object that does not conform")
  }

  private func end(_ number: Int, _ sitter: Sitter) throws {
    sitter.end()
    if number % 16 == 5 {
      thrown.add()
      throw Refusal()
    }
    returned.add()
  }

  private func check(_ isTrue: Bool, _ violation: @autoclosure () -> String) {
    world.violations.check(isTrue, "seats: " + violation())
  }

  /// The oracle: what may have become of all that was posted.
  func check() {
    let narrow = posted
    var missing = 0
    for sitters in sitters.withLock({ $0 }) {
      let handled = sitters.flatMap(\.handled)
      // Who comes later has later ones; one whose handler waits for the main actor or an interceptor keeps it.
      for sitter in sitters {
        check(
          zip(sitter.handled, sitter.handled.dropFirst()).allSatisfy(<), "one has them out of order"
        )
      }
      check(Set(handled).count == handled.count, "one is handled twice")
      missing += Set(narrow.indices).subtracting(handled).count {
        $0 >= narrow.count - (limit ?? narrow.count) && (!narrow[$0] || conforming == 10)
      }
    }
    let counts = hub.statistics().counts
    let ended =
      counts.handled + counts.failed + counts.passedOver + counts.dropped + counts.cancelled
    let text = "\(missing) missing, \(thrown.value) thrown, \(kept.value) kept away; \(counts)"
    check(ended == counts.addressed, "some have not ended: \(text)")
    check(
      conforming < 10
        ? counts.addressed <= narrow.count * Self.seats
        : counts.addressed == narrow.count * Self.seats,
      "they do not add up: \(text)")
    check(counts.failed == thrown.value, "failures do not add up: \(text)")
    check(
      (0...kept.value).contains(counts.handled - returned.value)
        || (0...kept.value).contains(returned.value - counts.handled),
      "those that returned do not add up: \(text)")
    check(counts.dropped == 0 || limit != nil, "something was dropped without a limit: \(text)")
    check(counts.expired == 0, "somebody died before: \(text)")
    // One that waits for the main actor or in an interceptor stays that of who has lost the seat, and ends with it.
    let mayCancel = isCancelling || intercepting != .not ? Int.max : onMain.value * Self.seats
    check(counts.cancelled <= mayCancel, "something else is cancelled: \(text)")
    check(missing <= kept.value + counts.cancelled, "some are missing: \(text)")
  }
}

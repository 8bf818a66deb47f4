import Testing

@testable import Delegation

/// Objects take seats from each other by `id:`, while notifications are posted in all forms; for questions see
/// `ReplacementCallTests`.
@Suite("Storm: take-overs", .inTurn(.heavy))
struct SeatStormTests {
  private static let seats = 3
  private static let takeOvers = 400
  private static let pool = ThreadPool(threads: 4)

  private protocol Sitting: AnyObject, Sendable {
    var sitter: Sitter { get }
  }

  /// What one object has handled.
  private final class Sitter: Sitting {
    let seat: Int
    private let state = Lock((handled: [Int](), isBusy: false))

    init(_ seat: Int) { self.seat = seat }

    var sitter: Sitter { self }
    var handled: [Int] { state.withLock { $0.handled } }

    /// - Returns: whether it handles another one.
    func begin(_ number: Int) -> Bool {
      state.withLock { state in
        defer { state.isBusy = true }
        state.handled.append(number)
        return state.isBusy
      }
    }

    func end(_ number: Int) throws {
      state.withLock { $0.isBusy = false }
      if number % 16 == 5 { throw Refusal() }
    }
  }

  @Test(
    "each seat handles each notification once, in order", arguments: seeds(4))
  func seats(seed: UInt64) async {
    var dice = Dice(seed: seed)
    let limit = seed % 2 == 0 ? 3 : nil
    let hub = DelegateHub {
      if seed % 4 < 2 { $0.executor = Self.pool }
      $0.onIncident = { _ in }
    }
    let sitters = (0..<Self.seats).map { _ in Recorder<Sitter>() }
    let (taken, posted, wrong) = (Count(), Count(), Recorder<String>())
    @Sendable func take(_ seat: Int) {
      let sitter = Sitter(seat)
      sitters[seat].record(sitter)
      hub.subscribe(
        sitter, to: Sitting.self, id: seat, mailbox: limit.map { .dropOldest(limit: $0) },
        on: taken.value % 5 == 4 ? Self.pool : nil)
      taken.add(1)
    }
    for seat in 0..<Self.seats { take(seat) }
    let isOver: @Sendable () -> Bool = { taken.value >= Self.seats * (Self.takeOvers + 1) }
    await withTaskGroup { group in
      for seat in 0..<Self.seats {
        group.addTask { [seed = dice.next()] in
          var dice = Dice(seed: seed)
          for _ in 0..<Self.takeOvers {
            take(seat)
            if dice.roll(3) == 0 { await Task.yield() }
          }
        }
      }
      group.addTask { [seed = dice.next()] in
        var dice = Dice(seed: seed)
        while !isOver() {
          await Self.post(posted.value, to: hub[Sitting.self], form: dice.roll(8), wrong)
          posted.add(1)
          while posted.value > 2 * taken.value + 100, !isOver() { await Task.yield() }
        }
      }
    }
    #expect(await hub.drain().isEmpty)
    #expect(wrong.history.isEmpty, "\(wrong.history.prefix(3))")
    let counts = hub.counted
    #expect(counts.addressed == posted.value * Self.seats)
    let called = counts.handled + counts.failed
    #expect(called + counts.dropped == counts.addressed, "\(counts)")
    #expect(limit != nil || counts.dropped == 0)
    let handled = sitters.map { $0.history.map(\.handled) }
    #expect(handled.joined().joined().count == called)
    for seat in handled {
      // An object that comes later has later ones.
      let all = Array(seat.joined())
      #expect(zip(all, all.dropFirst()).allSatisfy { $0 < $1 }, "out of order, or twice")
      if limit == nil { #expect(all == Array(0..<posted.value)) }
    }
  }

  private static func post(
    _ number: Int, to all: Delegates<any Sitting>, form: Int, _ wrong: Recorder<String>
  ) async {
    @Sendable func handle(_ sitter: Sitter) throws {
      if sitter.begin(number) { wrong.record("\(number) begins beside another one") }
      try sitter.end(number)
    }
    @Sendable func handleSlowly(_ sitter: Sitter) async throws {
      if sitter.begin(number) { wrong.record("\(number) begins beside another one") }
      for _ in 0..<number % 3 { await Task.yield() }
      try sitter.end(number)
    }
    switch form {
    case 0: all.notify { @MainActor in try handle($0.sitter) }
    case 1:
      let outcome = await all.notifyAndWait { try await handleSlowly($0.sitter) }
      let sum = outcome.handled + outcome.failed + outcome.missed
      if outcome.addressed != Self.seats || sum != Self.seats || !outcome.left.isEmpty {
        wrong.record("\(number): \(outcome)")
      }
    case 2...4: all.notify { try await handleSlowly($0.sitter) }
    default: all.notify { try handle($0.sitter) }
    }
  }
}

import Testing

@testable import Delegation

/// A hub on which everything is done at once, at random.
private final class Storm: Sendable {
  /// What the posters and the handlers themselves have counted.
  final class Tally: Sendable {
    private let counts = Lock([Event: Int]())

    func count(_ event: Event) { counts.withLock { $0[event, default: 0] += 1 } }

    subscript(event: Event) -> Int { counts.withLock { $0[event] ?? 0 } }
  }

  enum Event {
    case posted, handled, failed
  }

  let hub: DelegateHub
  let listeners = Tally()
  let bystanders = Tally()
  let wrong = Recorder<String>()
  /// Subscribed to both protocols from beginning to end, so that every posting counts.
  private let witness = Probe("witness")
  private let pool = Lock<[Probe]>(Probe.many(30))
  private let subscriptions = Lock<[DelegateHub.Subscription]>([])

  init(on executor: (any TaskExecutor)?) {
    hub = DelegateHub { configuration in
      configuration.executor = executor
      configuration.onIncident = { _ in }
    }
    hub.subscribe(witness, to: Listener.self)
    hub.subscribe(witness, to: Bystander.self)
  }

  /// Does a number of random things.
  func rage(seed: UInt64, times: Int) async {
    var dice = Dice(seed: seed)
    for _ in 0..<times {
      let onListeners = dice.roll(2) == 0
      switch dice.roll(100) {
      case 0..<40:
        if onListeners {
          post(to: Listener.self, tally: listeners, dice: &dice)
        } else {
          post(to: Bystander.self, tally: bystanders, dice: &dice)
        }
      case 40..<60: subscribe(toListeners: onListeners, &dice)
      case 60..<70: cancel(&dice)
      case 70..<75: if let probe = pick(&dice) { hub.unsubscribe(probe) }
      case 75..<85: replace(&dice)
      case 85..<90: await check()
      case 90..<95: await ask(&dice)
      default: await Task.yield()
      }
    }
  }

  private func post<P: Sendable>(to type: P.Type, tally: Tally, dice: inout Dice) {
    tally.count(.posted)
    switch dice.roll(4) {
    case 0:
      hub[type].notify() { _ in tally.count(.handled) }
    case 1:
      hub[type].notify() { _ in
        tally.count(.failed)
        throw Refusal()
      }
    case 2:
      hub[type].notify() { _ in
        await Task.yield()
        tally.count(.handled)
      }
    default:
      hub[type].notify() { _ in
        await Task.yield()
        tally.count(.failed)
        throw Refusal()
      }
    }
  }

  /// Asks in one way or another, or waits for one that ends or for all.
  private func ask(_ dice: inout Dice) async {
    let refused = "\(dice.roll(30))"
    switch dice.roll(5) {
    case 0:
      _ = await hub[Listener.self].vote() { probe in
        await Task.yield()
        return probe.name != refused
      }
    case 1:
      _ = await hub[Bystander.self].collect(within: .milliseconds(1)) { probe in
        await Task.yield()
        if probe.name == refused { throw Refusal() }
      }
    case 2:
      _ = await hub[Listener.self].askInTurn() { $0.name == refused ? 1 : nil }
    case 3:
      listeners.count(.posted)
      await hub[Listener.self].notifyAndWait() { [listeners] _ in listeners.count(.handled) }
    default:
      let choice = Int(dice.next() >> 32)
      let subscription = subscriptions.withLock { subscriptions in
        subscriptions.isEmpty ? nil : subscriptions.remove(at: choice % subscriptions.count)
      }
      await subscription?.cancelAndWait()
    }
  }

  private func pick(_ dice: inout Dice) -> Probe? {
    let pool = pool.withLock { $0 }
    return pool.randomElement(using: &dice)
  }

  private func subscribe(toListeners: Bool, _ dice: inout Dice) {
    guard let probe = pick(&dice) else { return }
    let policy: DelegateHub.MailboxPolicy = [
      .unbounded, .unbounded, .dropOldest(limit: 2), .latest,
    ][
      dice.roll(4)]
    let (priority, id) = (dice.roll(3), dice.roll(4) == 0 ? dice.roll(5) : nil)
    let hold: DelegateHub.Hold = dice.roll(10) == 0 ? .strongly : .weakly
    let subscription =
      toListeners
      ? hub.subscribe(
        probe, to: Listener.self, priority: priority, id: id, hold: hold, mailbox: policy)
      : hub.subscribe(
        probe, to: Bystander.self, priority: priority, id: id, hold: hold, mailbox: policy)
    subscriptions.withLock { $0.append(subscription) }
  }

  private func cancel(_ dice: inout Dice) {
    let choice = dice.next()
    let subscription = subscriptions.withLock { subscriptions -> DelegateHub.Subscription? in
      if subscriptions.isEmpty { return nil }
      return subscriptions.remove(at: Int(choice % UInt64(subscriptions.count)))
    }
    if dice.roll(5) == 0 { hub.unsubscribe(id: dice.roll(5)) }
    subscription?.cancel()
  }

  /// Lets go of a probe, which may be its death.
  private func replace(_ dice: inout Dice) {
    let (index, successor) = (dice.roll(30), Probe())
    let predecessor = pool.withLock { pool in
      defer { pool[index] = successor }
      return pool[index]
    }
    withExtendedLifetime(predecessor) {}
  }

  /// Looks whether every sum is right at this moment.
  func check() async {
    for problem in await hub.statistics().problems { wrong.record(problem) }
  }
}

extension DelegateHub.Statistics {
  /// What cannot be right.
  fileprivate var problems: [String] {
    protocols.flatMap { item in
      var problems: [String] = []
      if item.counts.addressed != item.addressed || item.addressed < item.posted {
        problems.append("posted \(item.posted), addressed \(item.addressed), \(item.counts)")
      }
      if item.subscribers.reduce(0, { $0 + $1.counts.handled }) > item.counts.handled {
        problems.append("the parts are more than \(item.counts)")
      }
      return problems
        + item.subscribers.filter(\.counts.isAnyNegative).map { "\($0)" }
        + (item.counts.isAnyNegative ? ["\(item.counts)"] : [])
    }
  }
}

extension DelegateHub.Statistics.Counts {
  fileprivate var isAnyNegative: Bool {
    [handled, failed, expired, dropped, cancelled, waiting, handling].contains { $0 < 0 }
  }
}

@Suite("Guarantee 16: exact count, in a storm", .inTurn(.heavy))
struct Guarantee16StormTests {
  /// More threads than cores: one that is interrupted anywhere stands still for long.
  private static let pool = ThreadPool(threads: 6)

  @Test(
    "at every moment all that was addressed is accounted for, on real threads and on the default ones",
    arguments: seeds(6))
  func storm(seed: UInt64) async {
    let executor: ThreadPool? = seed % 2 == 0 ? Self.pool : nil
    let storm = Storm(on: executor)
    let times = rounds(900, atLeast: 500).count
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask(executorPreference: executor) {
          await storm.rage(seed: 100 * seed + UInt64(task), times: times)
        }
      }
    }
    await storm.hub.drain()
    await storm.check()
    #expect(storm.wrong.history == [])
    let protocols = await storm.hub.statistics().protocols
    #expect(protocols.map(\.name) == ["DelegationTests.Bystander", "DelegationTests.Listener"])
    for (item, tally) in zip(protocols, [storm.bystanders, storm.listeners]) {
      #expect(item.posted == tally[.posted])
      #expect(item.counts.handled == tally[.handled])
      #expect(item.counts.failed == tally[.failed])
      #expect(item.counts.waiting == 0)
      #expect(item.counts.handling == 0)
      // A storm in which nothing of the kind happened would prove nothing.
      #expect(item.counts.expired > 0)
      #expect(item.counts.dropped > 0)
      #expect(item.counts.cancelled > 0)
    }
  }

  @Test("no count of a subscriber is ever negative while its mailbox overflows")
  func overflow() async {
    let pool = Self.pool
    let hub = DelegateHub(on: pool)
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self, mailbox: .dropOldest(limit: 2))
    let (end, problems) = (Gate(), Recorder<String>())
    let posts = rounds(40_000)
    await withTaskGroup { group in
      group.addTask(executorPreference: pool) {
        for number in posts {
          hub[Listener.self].notify() { _ in }
          if number % 16 == 0 { await Task.yield() }
        }
        end.arrive()
      }
      for _ in 0..<4 {
        group.addTask(executorPreference: pool) {
          while end.arrived == 0, problems.history.isEmpty {
            for problem in await hub.statistics().problems { problems.record(problem) }
          }
        }
      }
    }
    #expect(problems.history == [])
    await hub.drain()
    let counts = await hub.statistics().counts
    #expect(counts.handled + counts.dropped == posts.count)
    withExtendedLifetime(probe) {}
  }
}

import Delegation

/// A hub on which everything is done at once, at random.
final class Storm: Sendable {
  enum Event {
    case posted, handled, failed, asked
  }

  let hub: DelegateHub
  let wrong = Recorder<String>()
  /// What the posters and the handlers themselves have counted.
  private let tally = Guarded([Event: Int]())
  /// Subscribed from beginning to end, so that every posting counts.
  private let witness = Probe("witness")
  /// That of the hub, and of some of the subscribers.
  private let executor: (any TaskExecutor)?
  private let pool = Guarded<[Probe]>(Probe.many(30))
  /// All that there have been.
  private let tokens = Guarded(Set<DelegateHub.Subscription>())
  /// What was counted of questions when somebody looked.
  private let seen = Guarded<DelegateHub.Statistics.Questions?>(nil)
  private let subscriptions = Guarded<[DelegateHub.Subscription]>([])

  init(on executor: (any TaskExecutor)?) {
    self.executor = executor
    hub = DelegateHub(.init(executor: executor, onIncident: { _ in }))
    let token = hub.subscribe(witness, to: Listener.self)
    tokens.withLock { _ = $0.insert(token) }
  }

  func tallied(_ events: [Event]) -> [Int] {
    tally.withLock { tally in events.map { tally[$0] ?? 0 } }
  }

  private func count(_ event: Event) { tally.withLock { $0[event, default: 0] += 1 } }

  /// Does a number of random things.
  func rage(seed: UInt64, times: Int) async {
    var dice = Dice(seed: seed)
    for _ in 0..<times {
      switch dice.roll(100) {
      case 0..<40: post(&dice)
      case 40..<60: subscribe(&dice)
      case 60..<70: cancel(&dice)
      case 70..<75: hub.unsubscribe(pick(&dice))
      case 75..<85: replace(&dice)
      case 85..<90: check()
      case 90..<95: await ask(&dice)
      default: await Task.yield()
      }
    }
  }

  private func post(_ dice: inout Dice) {
    count(.posted)
    let (suspends, fails) = (dice.roll(2) == 0, dice.roll(2) == 0)
    let end: @Sendable () throws -> Void = { [self] in
      count(fails ? .failed : .handled)
      if fails { throw Refusal() }
    }
    if suspends {
      hub.listeners.notify { _ in
        await Task.yield()
        try end()
      }
    } else {
      hub.listeners.notify { _ in try end() }
    }
  }

  /// Asks in one way or another, or waits for one that ends or for all.
  private func ask(_ dice: inout Dice) async {
    let (all, refused, hangs) = (hub.listeners, "\(dice.roll(30))", dice.roll(3) == 0)
    let soon = Duration.milliseconds(dice.roll(3))
    let answer: @Sendable (any Listener) async throws -> Bool = { [self] probe in
      count(.asked)
      if hangs, probe.name == refused { try await Task.sleep(for: .seconds(600)) }
      await Task.yield()
      if !hangs, probe.name == refused { throw Refusal() }
      return probe.name != "29"
    }
    switch dice.roll(9) {
    case 0: _ = await all.vote { [self] in await says($0, not: refused) }
    case 1: _ = await all.collect(within: soon, answer)
    case 2: _ = await all.vote(within: soon, absent: .counts(as: false), answer)
    case 3:
      _ = await all.askInTurn(eachWithin: soon, absent: .abstains) {
        try await !answer($0) ? 1 : nil
      }
    case 4:
      let caller = Task { try? await all.vote(answer) }
      for _ in 0..<dice.roll(5) { await Task.yield() }
      caller.cancel()
      _ = await caller.value
    case 5: if executor == nil { all.forEach { _ in count(.asked) } }
    case 6:
      count(.posted)
      let outcome = await all.notifyAndWait { [self] _ in count(.handled) }
      if outcome.handled + outcome.missed != outcome.addressed { wrong.record("\(outcome)") }
    default:
      let choice = Int(dice.next() >> 32)
      let subscription = subscriptions.withLock { subscriptions in
        subscriptions.isEmpty ? nil : subscriptions.remove(at: choice % subscriptions.count)
      }
      await subscription?.cancelAndWait()
    }
  }

  private func says(_ probe: any Listener, not refused: String) async -> Bool {
    count(.asked)
    await Task.yield()
    return probe.name != refused
  }

  private func pick(_ dice: inout Dice) -> Probe {
    let index = dice.roll(30)
    return pool.withLock { $0[index] }
  }

  private func subscribe(_ dice: inout Dice) {
    let policies: [DelegateHub.MailboxPolicy] = [
      .unbounded, .unbounded, .dropOldest(limit: 2), .latest,
    ]
    let subscription = hub.subscribe(
      pick(&dice), to: Listener.self, priority: dice.roll(3),
      id: dice.roll(4) == 0 ? dice.roll(5) : nil,
      hold: dice.roll(10) == 0 ? .strongly : .weakly, mailbox: policies[dice.roll(4)],
      on: dice.roll(4) == 0 ? executor : nil)
    tokens.withLock { _ = $0.insert(subscription) }
    subscriptions.withLock { $0.append(subscription) }
  }

  private func cancel(_ dice: inout Dice) {
    let choice = dice.next()
    let subscription = subscriptions.withLock { subscriptions -> DelegateHub.Subscription? in
      if subscriptions.isEmpty { return nil }
      return subscriptions.remove(at: Int(choice % UInt64(subscriptions.count)))
    }
    if dice.roll(5) == 0 { hub.unsubscribe(id: dice.roll(5)) }
    if dice.roll(2) == 0 { subscription?.finish() } else { subscription?.cancel() }
  }

  /// Lets go of a probe, which may be its death.
  private func replace(_ dice: inout Dice) {
    let index = dice.roll(30)
    let successor = Probe("\(index)")
    let predecessor = pool.withLock { pool in
      defer { pool[index] = successor }
      return pool[index]
    }
    withExtendedLifetime(predecessor) {}
  }

  /// Looks whether every sum is right at this moment, and no count has become less.
  func check() {
    let former = seen.withLock { $0 }
    let now = hub.statistics()
    for problem in now.problems { wrong.record(problem) }
    if let former {
      let keys: [KeyPath<DelegateHub.Statistics.Questions, Int>] = [
        \.answered, \.failed, \.late, \.abandoned,
      ]
      for key in keys where now.questions[keyPath: key] < former[keyPath: key] {
        wrong.record("\(former), then \(now.questions)")
      }
    }
    seen.withLock { $0 = now.questions }
  }

  /// What the subscriptions have been asked.
  ///
  /// Without those that were asked before the same object subscribed again with another option.
  var askedOfAll: Int {
    tokens.withLock { Set($0).reduce(0) { $0 + $1.statistics.questions.asked } }
  }
}

extension DelegateHub.Statistics {
  /// What cannot be right.
  var problems: [String] {
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

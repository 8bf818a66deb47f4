import Delegation

/// Holds the hub's statistics against what the program has counted itself.
struct Audit: Sendable {
  private let world: World
  private let residents: [Resident]
  private var violations: Violations { world.violations }

  /// Prepares to audit.
  ///
  /// - Parameters:
  ///   - world: what is audited.
  ///   - residents: who is always there.
  init(_ world: World, _ residents: [Resident]) {
    self.world = world
    self.residents = residents
  }

  /// Begins to look again and again whether the sums are right at that very moment.
  ///
  /// - Parameters:
  ///   - world: what is audited.
  ///   - residents: who is always there.
  /// - Returns: the task, to be cancelled.
  static func start(_ world: World, _ residents: [Resident]) -> Task<Void, Never> {
    let audit = Audit(world, residents)
    return Task {
      while !Task.isCancelled {
        audit.checkSums(await world.hub.statistics())
        try? await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  /// Checks what holds at every moment.
  ///
  /// - Parameter statistics: the hub's, of any moment.
  func checkSums(_ statistics: DelegateHub.Statistics) {
    for item in statistics.protocols {
      violations.check(
        item.counts.addressed == item.addressed,
        "\(item.name): the counts do not add up to addressed")
      violations.check(!item.counts.isAnyNegative, "\(item.name): a count is negative")
      violations.check(
        item.addressed >= item.posted * (item.posted == 0 ? 1 : residents.count),
        "\(item.name): fewer were addressed than residents")
      for subscriber in item.subscribers {
        violations.check(
          !subscriber.counts.isAnyNegative, "a count of a subscriber is negative")
      }
    }
  }

  /// Checks each resident's account, when nothing waits or runs.
  ///
  /// - Parameter statistics: the hub's.
  func checkResidents(_ statistics: DelegateHub.Statistics) {
    let subscribers = statistics.protocols.first { $0.name.hasSuffix(".Listener") }?.subscribers
    for resident in residents {
      let own = resident.subscriber.conduct.watch
      guard
        let counts = subscribers?.first(where: { $0.subscriber.hasSuffix("(\(resident.id))") })?
          .counts
      else {
        violations.record("\(resident.id) is not in the statistics")
        continue
      }
      func check(_ isRight: Bool) {
        violations.check(
          isRight,
          "\(resident.id) has handled \(own.handled), \(own.failed) of them failing, of "
            + "\(world.tally.posted); the statistics say \(counts)")
      }
      check(counts.failed == own.failed && counts.handled == own.handled - own.failed)
      check(counts.addressed == world.tally.posted)
      check(counts.dropped == world.tally.posted - own.handled)
      check(!resident.isComplete || counts.dropped == 0)
    }
  }

  /// Posts when everybody is known and nothing else goes on: posted times subscribers, exactly.
  ///
  /// - Parameters:
  ///   - visits: all visitors there are.
  ///   - events: how many to post.
  func checkCalm(_ visits: [Visit], events: Int) async {
    world.calmDown()
    let before = await world.hub.statistics()
    let visitors = visits.count(where: \.isListening)
    let count = world.hub.subscriberCount(of: (any Listener).self)
    violations.check(
      count == residents.count + visitors,
      "the hub counts \(count) listeners, not \(residents.count) residents and \(visitors) visitors"
    )
    for number in 0..<events {
      let event = Event(
        id: UInt64(number), producer: nil, sequence: 0, postedAt: World.now(), isForbidden: false)
      world.tally.count(.postedByProducers)
      world.hub.notify((any Listener).self) { try $0.saw(event) }
    }
    _ = await world.hub.drain(within: .seconds(30))
    let after = await world.hub.statistics()
    // A subscription whose subscriber has died is there until the hub notices: by these, among others.
    let expired = after.counts.expired - before.counts.expired
    let addressed = after.addressed - before.addressed - expired
    violations.check(
      addressed == events * (residents.count + visitors),
      "\(events) events to \(count) listeners addressed \(addressed), the dead left out")
  }

  /// Checks the hub's whole account, when nothing waits or runs.
  ///
  /// - Parameter statistics: the hub's.
  func checkAll(_ statistics: DelegateHub.Statistics) {
    checkSums(statistics)
    checkResidents(statistics)
    let (counts, tally) = (statistics.counts, world.tally)
    func check(_ name: String, _ hub: Int, _ own: Int) {
      violations.check(hub == own, "\(name): the hub says \(hub), the program \(own)")
    }
    check("posted", statistics.posted, tally.posted)
    check("handled", counts.handled, tally[.handled])
    check("failed", counts.failed, tally[.failed])
    // When too many incidents wait, the hub leaves some out, and says how many but not of what kind.
    let reported = tally[.reported]
    violations.check(
      (reported...(reported + tally[.leftOut])).contains(counts.failed),
      "reported: \(counts.failed) failed, the program was told of \(reported) and of "
        + "\(tally[.leftOut]) incidents that were left out")
    check("waiting", counts.waiting, 0)
  }

  /// Checks that nobody is in memory but the residents, when everybody else was let go of.
  ///
  /// - Parameter looks: how often to look before that is wrong.
  func checkDead(looks: Int = 100) async {
    for _ in 0..<looks where world.population != residents.count {
      // Whoever ran a handler last may be just about to let go.
      try? await Task.sleep(for: .milliseconds(10))
    }
    let undead = world.population - residents.count
    violations.check(undead == 0, "\(undead) subscribers were kept in memory")
  }
}

extension DelegateHub.Statistics.Counts {
  /// Whether something was taken off that was never there.
  fileprivate var isAnyNegative: Bool {
    [handled, failed, expired, dropped, cancelled, waiting, handling].contains { $0 < 0 }
  }
}

import Delegation

/// One of the tasks that post, vote, and bring visitors and send them away.
struct Producer: Sendable {
  /// How many visitors it has at most.
  static let mostVisits = 12

  private let world: World
  private let residents: [Resident]
  private let index: Int
  private let limits: Limits
  private var dice: Dice
  private var sequence = 0
  /// Its visitors.
  private(set) var visits: [Visit] = []

  /// Makes one.
  ///
  /// - Parameters:
  ///   - index: which one it is.
  ///   - world: where.
  ///   - residents: who is always there.
  ///   - limits: when to end, and when to hold back.
  init(_ index: Int, in world: World, _ residents: [Resident], _ limits: Limits) {
    self.world = world
    self.residents = residents
    self.index = index
    self.limits = limits
    dice = Dice(seed: world.seed &* 1_000_003 &+ UInt64(index))
  }

  /// Does one thing after another until a limit is reached.
  mutating func run() async {
    while !limits.isReached {
      switch dice.roll(1000) {
      case 0..<480:
        await post { world, event in
          world.hub.notify((any Listener).self) { try $0.saw(event) }
        }
      case 480..<800:
        await post { world, event in
          world.hub.notify((any Listener).self) { try await $0.heard(event) }
        }
      case 800..<805: await notifyAndWait()
      case 805..<855: await Questions(world, residents).ask(event(), &dice)
      case 855..<915: come()
      case 915..<975: await leave()
      case 975..<990: visits.randomElement(using: &dice)?.changeOptions(in: world, &dice)
      default: await Task.yield()
      }
    }
  }

  private mutating func event() -> Event {
    sequence += 1
    return Event(
      id: dice.next(), producer: index, sequence: sequence, postedAt: World.now(),
      isForbidden: dice.roll(10) == 0)
  }

  private mutating func post(_ notify: (World, Event) async -> Void) async {
    guard await limits.admit(world, residents) else { return }
    world.tally.count(.postedByProducers)
    await notify(world, event())
  }

  private mutating func notifyAndWait() async {
    guard await limits.admit(world, residents) else { return }
    let event = event()
    world.tally.count(.postedByProducers)
    await world.hub.notifyAndWait((any Listener).self) { try await $0.heard(event) }
    world.tally.count(.delivered)
    for resident in residents where resident.isComplete {
      let last = resident.subscriber.conduct.watch.lastSequence(of: index)
      world.violations.check(
        last >= event.sequence, "notifyAndWait returned before somebody had handled it")
    }
  }

  private mutating func come() {
    if visits.count == Self.mostVisits {
      visits.removeFirst().subscriptions.forEach { $0.cancel() }
      world.tally.count(.left)
    }
    visits.append(Visit(to: world, &dice))
  }

  /// Sends a visitor away, in one of the ways there are.
  private mutating func leave() async {
    guard !visits.isEmpty else { return }
    let visit = visits.remove(at: dice.roll(visits.count))
    let hub = world.hub
    // One that the hub keeps alive does not die of being let go of.
    switch dice.roll(visit.hold == .strongly ? 5 : 8) {
    case 0:
      visit.subscriptions.forEach { $0.cancel() }
      world.tally.count(.left)
    case 1:
      for subscription in visit.subscriptions { await subscription.cancelAndWait() }
      visit.subscriber.conduct.watch.bar()
      world.tally.count(.left)
    case 2:
      hub.unsubscribe(visit.subscriber)
      world.tally.count(.left)
    case 3:
      hub.unsubscribe(id: visit.id)
      world.tally.count(.left)
    case 4:
      // The newcomer of the same id takes its place, and what waits for it; a vote it leaves by itself.
      visit.subscriptions.dropFirst().forEach { $0.cancel() }
      visits.append(Visit(to: world, id: visit.id, &dice))
      world.tally.count(.replaced)
    default:
      world.tally.count(.died)
    }
  }
}

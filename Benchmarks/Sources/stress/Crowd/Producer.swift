import Delegation

/// One of the tasks that post, and bring visitors and send them away.
struct Producer: Sendable {
  private static let mostVisits = 12

  let crowd: Crowd
  let index: Int
  var dice: Dice
  var sequence = 0
  var sinceWaiting = 0
  var visits: [Visit] = []
  /// Some that are over: as long as these are in memory, the hub could still call them.
  var past: [Visit] = []

  /// Does one thing after another until a limit is reached.
  mutating func run() async {
    let (crowd, delegates) = (crowd, crowd.delegates)
    while !crowd.world.limits.isReached {
      switch dice.roll(1000) {
      case 0..<300: post { event in delegates.notify { try $0.saw(event) } }
      case 300..<550: post { event in delegates.notify { try await $0.heard(event) } }
      case 550..<600:
        post { event in delegates.notify { @MainActor in try $0.saw(event) } }
        crowd.world.tally.count(.mainActor)
      case 600..<650:
        post { event in
          crowd.narrow.add()
          delegates.conforming(to: (any Eager).self).notify { try $0.saw(event) }
        }
        crowd.world.tally.count(.conforming)
      case 650..<660: await notifyAndWait()
      case 660..<840: come()
      case 840..<970: await leave()
      case 970..<990: visits.randomElement(using: &dice)?.changeOptions(&dice)
      default: await Task.yield()
      }
      // Nobody is to be more than a few hundred behind.
      if sinceWaiting > 64 { await notifyAndWait(leaving: 8) }
    }
    // With those who are left go those who have died.
    for visit in visits + past { crowd.world.hub.unsubscribe(visit.subscriber) }
  }

  private mutating func event() -> Event {
    sequence += 1
    return Event(id: dice.next(), note: Note(poster: index, number: sequence))
  }

  private mutating func post(_ notify: (Event) -> Void) {
    guard crowd.world.limits.take() else { return }
    crowd.account.posted.add()
    crowd.world.tally.count(.notify)
    sinceWaiting += 1
    notify(event())
  }

  /// Posts, and looks whether everybody has handled it who handles all.
  private mutating func notifyAndWait(leaving window: Int = 0) async {
    guard crowd.world.limits.take() else { return }
    sinceWaiting = 0
    let event = event()
    crowd.account.posted.add()
    crowd.world.tally.count(window == 0 ? .notifyAndWait : .window)
    let outcome = await crowd.delegates.notifyAndWait(leaving: window) { try await $0.heard(event) }
    let ended = outcome.handled + outcome.failed + outcome.missed
    crowd.world.violations.check(
      outcome.addressed >= crowd.residents.count
        && (window == 0 ? ended == outcome.addressed : ended <= outcome.addressed),
      "an outcome does not add up: \(outcome)")
    if window > 0 { return }
    for resident in crowd.residents where !resident.isLimited {
      crowd.world.violations.check(
        resident.subscriber.conduct.watch.book.last(of: index) >= sequence,
        "notifyAndWait returned before somebody had handled it")
    }
  }

  private mutating func come() {
    if visits.count == Self.mostVisits { keep(visits.removeFirst()).cancel() }
    visits.append(Visit(to: crowd, &dice))
  }

  private mutating func leave() async {
    guard !visits.isEmpty else { return }
    let visit = visits.remove(at: dice.roll(visits.count))
    if dice.hits(2) { keep(visit) }
    if let heir = await visit.leave(&dice) { visits.append(heir) }
  }

  @discardableResult
  private mutating func keep(_ visit: Visit) -> Visit {
    past.append(visit)
    if past.count > 4 { past.removeFirst() }
    return visit
  }
}

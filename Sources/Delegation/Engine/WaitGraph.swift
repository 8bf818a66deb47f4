/// Which handlers wait for which others: the calls of `drain`, `notifyAndWait` and `cancelAndWait` within
/// handlers, of all hubs.
///
/// A wait outside of handlers is strict, and not in the graph. A wait within a handler does not wait for
/// the handlers of its own chain. Nor does it wait for handlers that already wait, directly or through
/// others, for one of its chain; so two handlers that wait for each other both go on. In each circle the
/// wait that came last gives way. Circles may run through several hubs, so the process has one graph.
///
/// The graph is searched for the circles of a wait only when its count has fallen to what it excuses at
/// most. In the common case all wait for the rest of hubs, of their own or of others. Then only hubs are
/// looked at, however many of their handlers wait.
///
/// Invariant: `waits` are in the order of their numbers, which is the order of arrival; `bySubject`, `tally`
/// and `hubs` have exactly these waits. What a wait excuses is chosen from the waits before it, so a later
/// wait changes nothing for it. A hand-over of notifications may: then all are counted anew.
struct WaitGraph: Sendable {
  struct Wait: Sendable {
    let number: Int
    let goal: WaitGoal
    let context: HandlerContext
    /// The handlers that could not go on before this wait ended when it began.
    let chain: [HandlerContext]
    let subject: WaitGoal.Subject?
  }

  static let shared = Lock(WaitGraph())

  private var waits: [Wait] = []
  private var lastNumber = 0
  /// The numbers of the waits for a subject, in order.
  private var bySubject: [WaitGoal.Subject: [Int]] = [:]
  /// For each subject, how many handlers of waits there are, by the object that a goal counts them by.
  private var tally: [WaitGoal.Subject: [ObjectIdentifier: Int]] = [:]
  /// The hubs that handlers of waits belong to.
  private var hubs: [ObjectIdentifier: WaitingHub] = [:]

  var count: Int { waits.count }
  /// Whether nothing is left of any wait.
  ///
  /// For tests.
  var isEmpty: Bool { waits.isEmpty && bySubject.isEmpty && tally.isEmpty && hubs.isEmpty }
  /// How many handlers, and how many waits for each of them, the searches have visited.
  ///
  /// For tests.
  private(set) var steps = 0

  /// Adds a wait.
  ///
  /// - Returns: its number, and how many handlers it excuses at most; `nil` if its handler has returned,
  ///   which makes the wait strict.
  /// - Complexity: O(1) in the number of waits, amortised.
  mutating func add(_ goal: WaitGoal, in context: HandlerContext) -> (number: Int, most: Int)? {
    let chain = context.chain
    if chain.isEmpty { return nil }
    lastNumber += 1
    let subject = goal.subject
    let wait = Wait(
      number: lastNumber, goal: goal, context: context, chain: chain, subject: subject)
    waits.append(wait)
    if let subject { bySubject[subject, default: []].append(lastNumber) }
    for activity in wait.activities {
      // Made before its handlers are marked, so that each later return is seen.
      hubs[ObjectIdentifier(activity), default: WaitingHub(activity)].add(lastNumber, for: subject)
    }
    for handler in chain {
      handler.worker.waits.wrappingAdd(1, ordering: .sequentiallyConsistent)
      for subject in handler.subjects {
        tally[subject, default: [:]][handler.counted(for: subject), default: 0] += 1
      }
    }
    // A handler that returned before its worker's `waits` rose has not raised `returns`.
    if context.chain.count != chain.count {
      for activity in wait.activities { hubs[ObjectIdentifier(activity)]?.noteReturn() }
    }
    return (lastNumber, subject.flatMap { tally[$0]?.count } ?? 0)
  }

  /// Removes a wait that is over.
  ///
  /// - Returns: the wait, to be released outside the lock.
  /// - Complexity: O(1) if it came last, else O(*k*) in the *k* waits that came later.
  mutating func remove(_ number: Int) -> Wait? {
    guard let index = index(of: number) else { return nil }
    let wait = waits.remove(at: index)
    if let subject = wait.subject {
      if let place = bySubject[subject]?.lastIndex(of: number) {
        bySubject[subject]?.remove(at: place)
      }
      if bySubject[subject]?.isEmpty == true { bySubject[subject] = nil }
    }
    for activity in wait.activities {
      let hub = ObjectIdentifier(activity)
      hubs[hub]?.remove(number, for: wait.subject)
      if hubs[hub]?.isEmpty == true { hubs[hub] = nil }
    }
    for handler in wait.chain {
      handler.worker.waits.wrappingSubtract(1, ordering: .sequentiallyConsistent)
      for subject in handler.subjects {
        let counted = handler.counted(for: subject)
        tally[subject]?[counted, default: 0] -= 1
        if tally[subject]?[counted] == 0 { tally[subject]?[counted] = nil }
        if tally[subject]?.isEmpty == true { tally[subject] = nil }
      }
    }
    return wait
  }

  /// The goals that are waited for, if some waits for what a topic's mailboxes have.
  func goals(ifAwaiting topic: Topic) -> [WaitGoal] {
    if bySubject[.mailboxes(of: topic.number)] == nil { return [] }
    var objects: Set<ObjectIdentifier> = []
    return waits.map(\.goal).filter { objects.insert($0.object).inserted }
  }

  /// How many of the handlers that a wait's goal counts are excused at the moment.
  ///
  /// - Complexity: O(*h*) in the *h* hubs of a circle if it waits for the rest of a hub whose handlers all
  ///   wait for such, and no later than it; else O(*k*) in the *k* waits before it that are in a circle with
  ///   it.
  mutating func countExcused(by number: Int) -> Int {
    guard let index = index(of: number) else { return 0 }
    let wait = waits[index]
    if case .rest(let activity) = wait.goal, excusesAll(of: ObjectIdentifier(activity), wait) {
      return tally[.hub(ObjectIdentifier(activity))]?.count ?? 0
    }
    let excused = standstill(of: wait).filter { wait.goal.waits(for: $0) }
    return Set(excused.map { wait.goal.counted($0) }).count
  }

  /// Whether each handler of a hub that waits cannot go on before this wait ends.
  ///
  /// A hub *stands still* if one of its handlers cannot go on: the hubs of this wait, and those with an
  /// earlier wait for the rest of a hub that stands still. Who waits for the rest of a hub that stands still
  /// cannot go on.
  ///
  /// - Returns: `false` also if that cannot be said by looking at hubs only.
  private mutating func excusesAll(of awaited: ObjectIdentifier, _ wait: Wait) -> Bool {
    guard hasNoReturn(awaited), let hub = hubs[awaited] else { return false }
    let own = wait.activities.map { ObjectIdentifier($0) }.filter(hasNoReturn)
    if hub.waitsOnly(for: own, upTo: wait.number) { return true }
    // The hubs that the awaited one waits for, directly or through others.
    var reached = [awaited]
    var seen = Set(reached)
    var visited = 0
    while visited < reached.count {
      steps += 1
      for goal in goals(of: reached[visited], before: wait) where seen.insert(goal).inserted {
        reached.append(goal)
      }
      visited += 1
    }
    var still = Set(own)
    var count = 0
    while count != still.count {
      count = still.count
      // Those that were reached last led to this wait.
      for hub in reached.reversed()
      where goals(of: hub, before: wait).contains(where: still.contains) {
        steps += 1
        still.insert(hub)
      }
    }
    return hub.waitsOnly(for: still, upTo: wait.number)
  }

  private func hasNoReturn(_ hub: ObjectIdentifier) -> Bool { hubs[hub]?.hasNoReturn ?? false }

  /// The hubs for whose rest handlers of a hub wait, since before a wait; none of them has gone on.
  private func goals(of hub: ObjectIdentifier, before wait: Wait) -> [ObjectIdentifier] {
    guard let hub = hubs[hub], hub.hasNoReturn else { return [] }
    return hub.goals(before: wait.number)
  }

  /// The handlers that cannot go on before a wait ends: its own, and those of earlier waits that wait
  /// for one of them.
  private mutating func standstill(of wait: Wait) -> [HandlerContext] {
    var handlers = wait.context.chain
    // The earlier waits that have not been found to wait for one of them.
    var rest: [WaitGoal.Subject: [Int]] = [:]
    var visited = 0
    while visited < handlers.count {
      let handler = handlers[visited]
      visited += 1
      steps += 1
      for subject in handler.subjects {
        guard let numbers = rest[subject] ?? bySubject[subject], !numbers.isEmpty else { continue }
        steps += numbers.count
        rest[subject] = numbers.filter { number in
          guard number < wait.number, let index = index(of: number),
            waits[index].goal.waits(for: handler)
          else { return number < wait.number }
          handlers += waits[index].context.chain
          return false
        }
      }
    }
    return handlers
  }

  private func index(of number: Int) -> Int? {
    let index = waits.partitioningIndex { $0.number >= number }
    return index < waits.count && waits[index].number == number ? index : nil
  }
}

extension WaitGraph.Wait {
  /// The hubs that its handlers belong to, each once.
  fileprivate var activities: [Activity] {
    var activities: [Activity] = []
    for handler in chain where !activities.contains(where: { $0 === handler.worker.activity }) {
      activities.append(handler.worker.activity)
    }
    return activities
  }
}

extension HandlerContext {
  fileprivate func counted(for subject: WaitGoal.Subject) -> ObjectIdentifier {
    switch subject {
    case .hub, .subscription: ObjectIdentifier(worker)
    case .mailboxes: mailbox
    }
  }
}

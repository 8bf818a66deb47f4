/// What the guarantees allow: told of all that happens in a schedule, it finds what must not.
///
/// The scenario runs on one thread, so everything happens at one time or another, and what
/// synchronous calls do is exact.
struct Model {
  /// One subscription, from its beginning to its end.
  struct Episode {
    let player: Int
    var options: Script.Options
    let opened: Int
    /// By which those of the same priority are ordered: when the first one that had it was subscribed.
    let place: Int
    /// When it was given its executor, if that was after its beginning.
    var movedAt: Int?
    /// A call has begun to end it: nothing more is addressed to it.
    var isEnding = false
    /// Such a call has returned: no handler may start.
    var isEnded = false
    var isDead = false
    /// The notifications posted while it was open, after those that are repeated for it.
    var addressed: [Int] = []
    var replayed = 0
    /// How many of them have been handled, or passed over if there is a limit.
    var passed = 0
    /// The notification that is being handled.
    var running: Int?
    /// How many handlers of questions are running.
    var asked = 0

    var isOpen: Bool { !isEnding && !isDead }

    /// How many notifications have certainly yet to be handled.
    var pending: Int {
      guard isOpen else { return 0 }
      let rest = addressed.count - passed
      return options.limit == nil ? rest : min(rest, 1)
    }

    /// Whether a notification may still have to be passed.
    func hasPending(_ number: Int) -> Bool {
      if running == number { return passed > replayed }
      guard isOpen, let index = addressed.firstIndex(of: number) else { return false }
      return index >= passed && index >= replayed
    }
  }

  /// One call of the hub.
  struct Call {
    let operation: Script.Operation
    /// The task that made it; `nil` if a handler did.
    let task: Int?
    let began: Int
    /// What the clock showed.
    let beganAt: Int
    var isOver = false
    /// How many of its handlers are running.
    var handlers = 0
    /// The episodes of those who were asked.
    var asked: [Int] = []
    var firstStart: Int?
    var decision: Decision?
    /// The episode that `cancelAndWait` ends.
    var target: Int?
    /// The episode whose handler left it to a task.
    var leftBy: Int?
    /// The notification that it waits for.
    var awaited: Int?
    /// How many it was addressed to, and what became of it so far.
    var addressed = 0, handled = 0, failed = 0
  }

  /// What fixes the outcome of a question.
  enum Decision: Equatable {
    case denied
    case failed
    case answered(Int)
  }

  struct Violation: Error {
    /// The guarantee's number.
    let guarantee: Int
    let text: String
  }

  var episodes: [Episode] = []
  var calls: [Int: Call] = [:]
  var violation: Violation?
  var cancelledTasks: Set<Int> = []
  var handled = 0
  var failed = 0
  private(set) var now = 0
  /// The last time at which nothing waited or ran, as far as anybody looked.
  private(set) var lastRest = 0
  private var drains = 0
  /// Somebody is posting, who must not come to run handlers.
  var isPosting = false
  /// Somebody cancels a caller, and must not come to run handlers of its call's deadline.
  var isCancelling = false
  /// The calls that handlers left to tasks, by the episodes of those handlers.
  private var left: [Int: Int] = [:]
  /// The handlers that have returned after they left a call to a task, by that call.
  private var leavers: Set<Int> = []
  /// How many waits handlers have begun, or tasks that they left behind.
  private(set) var waitsOfHandlers = 0
  /// When a subscription's priority was changed last.
  var lastReordering = 0
  /// The notifications that were posted, and those whose posters wait, in order.
  private var posted: [Int] = [], awaited: [Int] = []
  /// How many of the latest are repeated for a new subscription, as many as it may hold.
  var replayCount = 0
  /// The subscriptions to events.
  var lines: [Line] = []
  /// Whether nothing is posted to them any more.
  var isFinished = false
  var taken = 0
  /// What a watcher of the demand has heard last.
  var demand: Bool?

  // MARK: Telling the model

  mutating func violate(_ guarantee: Int, _ text: String) {
    if violation == nil { violation = Violation(guarantee: guarantee, text: text) }
  }

  /// Lets time pass; to be called before anything changes.
  mutating func tick() {
    now += 1
    if drains > 0, isAtRest { lastRest = now }
  }

  var isAtRest: Bool {
    episodes.allSatisfy { $0.running == nil && $0.asked == 0 && $0.pending == 0 }
      && lines.allSatisfy { $0.pending == 0 }
  }

  mutating func begin(_ step: Script.Step, in task: Int?, at time: Int) {
    tick()
    calls[step.number] = Call(operation: step.operation, task: task, began: now, beganAt: time)
    switch step.operation {
    case .notify, .notifyAndWait:
      for index in episodes.indices where episodes[index].isOpen {
        episodes[index].addressed.append(step.number)
        calls[step.number]?.addressed += 1
      }
      posted.append(step.number)
      // Where nobody is, and nothing is kept, nobody waits.
      guard case .notifyAndWait(let window) = step.operation,
        calls[step.number]?.addressed ?? 0 > 0 || replayCount > 0
      else { break }
      awaited.append(step.number)
      calls[step.number]?.awaited = awaited.dropLast(window).last
    case .post, .postAndWait: for index in lines.indices { lines[index].post(step.number) }
    case .drain: drains += 1
    default: break
    }
    calls[step.number]?.leftBy = left[step.number]
    if task == nil, step.operation.isWait { waitsOfHandlers += 1 }
  }

  /// A handler leaves a call to a task.
  ///
  /// - Returns: whether no other one has left it: a successor does what its predecessor does.
  mutating func leave(_ number: Int, in episode: Int) -> Bool {
    if left[number] != nil { return false }
    left[number] = episode
    return true
  }

  /// A handler that may have left a call to a task returns.
  mutating func handlerReturned(afterLeaving number: Int, in episode: Int) {
    if left[number] == episode { leavers.insert(number) }
  }

  /// Whether a call was left to a task by a handler that has returned.
  func isOutside(_ number: Int) -> Bool { leavers.contains(number) }

  mutating func open(_ player: Int, _ options: Script.Options) {
    tick()
    let replayed = posted.suffix(min(replayCount, options.limit ?? replayCount))
    episodes.append(
      Episode(
        player: player, options: options, opened: now, place: now, addressed: Array(replayed),
        replayed: replayed.count))
  }

  /// A player takes the place of an open episode, its own or another one's, and gets what it has not handled.
  mutating func succeed(_ index: Int, by player: Int, with options: Script.Options? = nil) {
    tick()
    let former = episodes[index]
    var successor = Episode(
      player: player, options: options ?? former.options, opened: now, place: former.place)
    let isMoved = successor.options.isOnLane && !former.options.isOnLane
    successor.movedAt = isMoved ? now : former.movedAt
    if successor.options.priority != former.options.priority { lastReordering = now }
    successor.addressed = Array(former.addressed[former.passed...])
    successor.replayed = max(0, former.replayed - former.passed)
    episodes[index].addressed.removeSubrange(former.passed...)
    episodes[index].isEnding = true
    episodes[index].isEnded = true
    episodes.append(successor)
  }

  func openEpisode(of player: Int) -> Int? {
    episodes.lastIndex { $0.player == player && $0.isOpen }
  }

  mutating func startEnding(_ index: Int) {
    tick()
    episodes[index].isEnding = true
  }

  mutating func die(_ player: Int) {
    tick()
    for index in episodes.indices where episodes[index].player == player {
      if episodes[index].running != nil || episodes[index].asked > 0 {
        violate(4, "subscriber \(player) dies while its handler runs")
      }
      episodes[index].isDead = true
    }
  }

  // MARK: Notifications

  /// A handler of a notification starts.
  ///
  /// - Returns: the episode.
  mutating func startHandling(_ number: Int, by player: Int) -> Int? {
    tick()
    let who = "subscriber \(player)"
    guard
      let index = episodes.lastIndex(where: {
        $0.player == player && $0.addressed.contains(number)
      }), let position = episodes[index].addressed.firstIndex(of: number)
    else {
      violate(1, "\(who) is called by #\(number), which was posted while it was not subscribed")
      return nil
    }
    let episode = episodes[index]
    if episode.isEnded { violate(2, "\(who) is called by #\(number) after its subscription ended") }
    for other in episodes where other.place == episode.place {
      guard let running = other.running else { continue }
      violate(
        5, "\(who) is called by #\(number) while \(other.player) handles #\(running) in its place")
    }
    if position < episode.passed {
      violate(5, "\(who) is called by #\(number) again, or after a later one")
    }
    if position > episode.passed, episode.options.limit == nil {
      violate(5, "\(who) is called by #\(number) before #\(episode.addressed[episode.passed])")
    }
    episodes[index].passed = position + 1
    episodes[index].running = number
    calls[number]?.handlers += 1
    return index
  }

  mutating func endHandling(_ number: Int, in index: Int, throwing: Bool) {
    tick()
    episodes[index].running = nil
    calls[number]?.handlers -= 1
    if throwing { failed += 1 } else { handled += 1 }
    guard episodes[index].passed > episodes[index].replayed else { return }
    if throwing { calls[number]?.failed += 1 } else { calls[number]?.handled += 1 }
  }

  // MARK: Questions

  /// A handler of a question starts.
  ///
  /// - Returns: the episode.
  mutating func startAnswering(_ number: Int, by player: Int) -> Int? {
    tick()
    guard let call = calls[number] else { return nil }
    let who = "subscriber \(player)"
    guard let index = episodes.lastIndex(where: { $0.player == player && !$0.isEnded }) else {
      violate(2, "\(who) is asked by #\(number) after its subscription ended")
      return nil
    }
    if let firstStart = call.firstStart, episodes[index].place > firstStart {
      violate(1, "\(who) is asked by #\(number), which had set out before it was subscribed")
    }
    if call.asked.contains(where: { episodes[$0].place == episodes[index].place }) {
      violate(13, "\(who) is asked by #\(number), which has asked whoever had its place")
    }
    if call.decision != nil { violate(9, "\(who) is asked by #\(number), which was decided") }
    if call.isOver { violate(9, "\(who) is asked by #\(number), which has returned") }
    if call.isInTurn { checkTurn(of: index, in: call, number) }
    calls[number]?.asked.append(index)
    calls[number]?.handlers += 1
    if call.firstStart == nil { calls[number]?.firstStart = now }
    episodes[index].asked += 1
    return index
  }

  mutating func endAnswering(
    _ number: Int, in index: Int, answer: Bool, throwing: Bool
  ) {
    tick()
    episodes[index].asked -= 1
    calls[number]?.handlers -= 1
    guard let call = calls[number], call.decision == nil, !call.isOver else { return }
    switch call.operation {
    case .vote, .pass:
      if throwing || !answer { calls[number]?.decision = throwing ? .failed : .denied }
    case .voteWithin(_, let absenceDenies):
      if throwing ? absenceDenies : !answer { calls[number]?.decision = .denied }
    case .askInTurn:
      if throwing {
        calls[number]?.decision = .failed
      } else if !answer {
        calls[number]?.decision = .answered(episodes[index].player)
      }
    default: break
    }
  }

  private mutating func checkTurn(of index: Int, in call: Call, _ number: Int) {
    if call.handlers > 0 { violate(5, "#\(number) asks two at once, not one after another") }
    guard let last = call.asked.last, lastReordering < call.began else { return }
    if precedes(index, last) {
      violate(5, "#\(number) asks subscriber \(episodes[index].player) after its turn")
    }
  }

  /// Whether one episode is served before another.
  func precedes(_ one: Int, _ other: Int) -> Bool {
    let (rank, otherRank) = (episodes[one].options.priority, episodes[other].options.priority)
    return rank == otherRank
      ? episodes[one].place < episodes[other].place : rank > otherRank
  }

  mutating func finish(_ number: Int) {
    tick()
    calls[number]?.isOver = true
    if case .drain = calls[number]?.operation { drains -= 1 }
  }
}

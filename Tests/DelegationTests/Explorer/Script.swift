/// What a scenario's tasks do, and how its subscribers behave: all of it follows from a seed.
struct Script: Sendable {
  /// What a scenario is about: which operations are likely.
  enum Theme: String, Sendable, Codable, CaseIterable {
    /// Notifications, and what waits for them.
    case telling
    /// Questions: early decisions, deadlines, cancellation.
    case asking
    /// Both, and handlers that call the hub themselves.
    case everything
    /// Events, and loops that take them.
    case streaming
  }

  /// A subscription's options.
  struct Options: Sendable {
    var priority = 0
    var isStrong = false
    /// How many may wait; `nil` for any number.
    var limit: Int?
    var isOnLane = false
    var hasID = false
  }

  /// How a subscription is ended.
  enum Ending: Sendable, CaseIterable {
    case cancel, unsubscribe, unsubscribeFromEverything, unsubscribeByID
  }

  enum Operation: Sendable {
    case subscribe(slot: Int, Options)
    /// Subscribes a new object with the id of the slot's present one.
    case succeed(slot: Int)
    case end(slot: Int, Ending)
    case unsubscribeAll
    case cancelAndWait(slot: Int)
    case kill(slot: Int)
    case notify(isAsynchronous: Bool)
    /// Returns when the one that was posted so many such calls before has been passed.
    case notifyAndWait(leaving: Int)
    case vote
    /// With a deadline; who is late or throws counts as a no if `absenceDenies`.
    case voteWithin(ticks: Int, absenceDenies: Bool)
    case collect(ticks: Int?)
    case askInTurn
    /// Each who lets the value pass adds one to it.
    case pass
    case drain(ticks: Int?)
    case advance(ticks: Int)
    case cancelTask(Int)
    case statistics
    /// Posts an event to the lines.
    case post
    case postAndWait
    /// Takes so many events of a stream, and releases it.
    case listen(count: Int, limit: Int?)
    case next(ticks: Int?)
    case once
    case finish
  }

  /// One call, with a number by which its handlers' behaviour is found.
  struct Step: Sendable {
    let number: Int
    let operation: Operation
    /// Whether the task gives way first.
    var yields = false
  }

  /// What one handler does in one call.
  struct Behaviour: Sendable {
    enum Hang: Sendable { case not, untilReleased, untilReleasedOrCancelled }

    var yields = 0
    var hang = Hang.not
    var isThrowing = false
    /// What it answers if it is asked; only a `false` may fix the outcome.
    var answer = true
    /// What it calls itself.
    var step: Step?
    /// Whether it leaves that to a task, for which it does not wait.
    var isLeftBehind = false
  }

  let theme: Theme
  let seed: UInt64
  /// How many subscribers there may be.
  let slots: Int
  /// Who is subscribed from the beginning.
  private(set) var members: [Options] = []
  private(set) var tasks: [[Step]] = []
  /// Which of the tasks prefer an executor of their own.
  private(set) var tasksElsewhere: Set<Int> = []
  /// The step of the schedule at which that executor ceases to run jobs.
  private(set) var hold: Int?
  /// How many of the latest notifications a new subscription gets first.
  private(set) var replayed = 0

  init(_ theme: Theme, seed: UInt64) {
    self.theme = theme
    self.seed = seed
    var dice = Dice(seed: seed)
    slots = 2 + dice.roll(3)
    members = (0..<max(1, slots - dice.roll(2))).map { _ in Self.options(&dice) }
    let count = 2 + dice.roll(3)
    var number = 0
    for _ in 0..<count {
      tasks.append(
        (0..<1 + dice.roll(3)).map { _ in
          number += 1
          return Step(
            number: number, operation: operation(&dice, tasks: count), yields: dice.roll(2) == 0)
        })
    }
    replayed = theme != .asking && dice.roll(3) == 0 ? 1 + dice.roll(2) : 0
    guard dice.roll(3) == 0 else { return }
    tasksElsewhere = Set(tasks.indices.filter { _ in dice.roll(2) == 0 })
    hold = dice.roll(2) == 0 ? dice.roll(60) : nil
  }

  private static func options(_ dice: inout Dice) -> Options {
    var options = Options(priority: dice.roll(4) == 0 ? dice.roll(3) : 0)
    switch dice.roll(12) {
    case 0: options.isStrong = true
    case 1, 2: options.limit = 1 + dice.roll(2)
    case 3: options.isOnLane = true
    default: break
    }
    options.hasID = dice.roll(2) == 0
    return options
  }

  private func operation(_ dice: inout Dice, tasks: Int, isNested: Bool = false) -> Operation {
    let roll = dice.roll(100)
    if theme == .streaming, !isNested, roll < 75 { return streaming(&dice) }
    if roll < 45 {
      let isTelling = theme == .telling || theme != .asking && dice.roll(2) == 0
      return isTelling ? telling(&dice) : asking(&dice)
    }
    let slot = dice.roll(slots)
    switch roll {
    case 45..<52: return .subscribe(slot: slot, Self.options(&dice))
    case 52..<55: return .succeed(slot: slot)
    case 55..<65: return .end(slot: slot, Ending.allCases[dice.roll(Ending.allCases.count)])
    case 65..<67: return .unsubscribeAll
    case 67..<75: return .cancelAndWait(slot: slot)
    case 75..<82: return .kill(slot: slot)
    case 82..<90: return .drain(ticks: dice.roll(3) == 0 ? dice.roll(3) : nil)
    case 90..<94: return .advance(ticks: 1 + dice.roll(2))
    case 94..<97: return .cancelTask(dice.roll(tasks))
    default: return .statistics
    }
  }

  private func telling(_ dice: inout Dice) -> Operation {
    switch dice.roll(10) {
    case 0..<3: .notify(isAsynchronous: false)
    case 3..<8: .notify(isAsynchronous: true)
    default: .notifyAndWait(leaving: max(0, dice.roll(4) - 1))
    }
  }

  private func streaming(_ dice: inout Dice) -> Operation {
    switch dice.roll(12) {
    case 0..<4: .post
    case 4..<6: .postAndWait
    case 6..<9: .listen(count: 1 + dice.roll(3), limit: dice.roll(4) == 0 ? 1 + dice.roll(2) : nil)
    case 9: .next(ticks: dice.roll(2) == 0 ? dice.roll(3) : nil)
    case 10: .once
    default: .finish
    }
  }

  private func asking(_ dice: inout Dice) -> Operation {
    switch dice.roll(10) {
    case 0..<3: .vote
    case 3..<6: .voteWithin(ticks: 1 + dice.roll(2), absenceDenies: dice.roll(2) == 0)
    case 6..<7: .collect(ticks: nil)
    case 7..<8: .collect(ticks: 1 + dice.roll(2))
    case 8..<9: .askInTurn
    default: .pass
    }
  }

  // MARK: Behaviour

  /// What the handler of a subscriber does in a call.
  func behaviour(of slot: Int, in number: Int) -> Behaviour {
    var dice = Dice(seed: seed ^ UInt64(number &* 64 &+ slot &+ 1) &* 0xD6E8_FEB8_6659_FD93)
    var behaviour = Behaviour(yields: max(0, dice.roll(4) - 1))
    switch dice.roll(8) {
    case 0: behaviour.hang = .untilReleased
    case 1: behaviour.hang = .untilReleasedOrCancelled
    default: break
    }
    behaviour.isThrowing = dice.roll(8) == 0
    behaviour.answer = dice.roll(4) != 0
    // What handlers call has numbers of its own, and its handlers call nothing.
    if theme != .asking, number < Self.nested, dice.roll(theme == .everything ? 3 : 6) == 0 {
      behaviour.isLeftBehind = dice.roll(3) == 0
      let endsItself = behaviour.isLeftBehind && dice.roll(2) == 0
      behaviour.step = Step(
        number: Self.nested + number * 8 + slot,
        operation: endsItself
          ? .cancelAndWait(slot: slot) : operation(&dice, tasks: 1, isNested: true))
    }
    return behaviour
  }

  /// From here on are the numbers of the calls that handlers make.
  static let nested = 1000

  /// Who is subscribed and what the tasks call, as lines.
  var lines: String {
    let members = members.enumerated().map { "  subscriber \($0): \($1)" }
    let tasks = tasks.enumerated().flatMap { index, steps in
      let place = tasksElsewhere.contains(index) ? " on an executor of its own" : ""
      return steps.map { "  caller \(index)\(place): #\($0.number) \($0.operation)" }
    }
    return (members + tasks).joined(separator: "\n")
  }
}

import Delegation
@testable import DelegationTesting

/// One schedule of a script: a hub, its subscribers and its callers on an explorer, and the model that
/// watches them.
///
/// `@unchecked Sendable`: everything happens on the explorer's thread, which is checked.
final class Scenario: @unchecked Sendable {
  /// A handler that stands still.
  struct Hang {
    let ticket: Int
    let call: Int
    let isCancellable: Bool
    let continuation: UnsafeContinuation<Void, Never>
  }

  /// Where a player is, alive or dead.
  private struct Grave {
    unowned let player: Player
  }

  /// What a handler of a schedule throws.
  struct Failure: Error {}

  /// Counts what the hub reports, without keeping the scenario.
  private final class Reports: @unchecked Sendable {
    var count = 0
  }

  let script: Script
  let explorer: Explorer
  let lane: SeededExecutor.Lane
  let clock = ManualClock()
  var model = Model()
  var history = History()
  var hanging: [Hang] = []
  /// The subscribers that the scenario keeps alive, by slot.
  var players: [Player?]
  /// The latest subscription of each slot, and whose it is.
  var subscriptions: [(subscription: DelegateHub.Subscription, player: Int)?]
  /// Who has been made, by number: whether it lives, and whether the scenario keeps it.
  var isAlive: [Bool] = []
  var isKept: [Bool] = []
  /// The ids of those who have one, by number.
  var ids: [Int: Int] = [:]
  /// `nil` at the end, for the subscribers that it holds refer to the scenario.
  private var ownHub: DelegateHub?
  /// Keep the addresses of the dead from being used again, which would be up to chance.
  private var graves: [Grave] = []
  private let reports = Reports()
  private let lifetimes: Lifetimes
  private var dice: Dice
  private var handles: [Task<Void, Never>] = []
  private var tasksLeft = 0
  private var lastTicket = 0
  /// What is called when all that the script has is over, one after another.
  private var lastSteps: [Script.Step] = [
    .init(number: closing, operation: .drain(ticks: nil)),
    .init(number: closing + 1, operation: .statistics),
  ]

  /// The call that is being made: a task-local that the hub is not told of.
  @TaskLocal static var caller = 0
  /// The same, which it is told to carry.
  @TaskLocal static var named = 0

  /// A schedule with more jobs than this does not end.
  private static let mostSteps = 20_000
  /// The numbers of the last calls of all.
  static let closing = 900

  init(_ script: Script, on explorer: Explorer, seed: UInt64, lifetimes: Lifetimes) {
    self.script = script
    self.explorer = explorer
    self.lifetimes = lifetimes
    lane = explorer.lane
    dice = Dice(seed: seed)
    players = Array(repeating: nil, count: script.slots)
    subscriptions = Array(repeating: nil, count: script.slots)
    var configuration = DelegateHub.Configuration()
    configuration.executor = explorer.executor
    configuration.clock = clock
    configuration.propagating = [.taskLocal(Self.$named)]
    configuration.onIncident = { [reports] incident in
      let isNotification = incident.call == .notify || incident.call == .notifyAndWait
      if incident.kind == .failed, isNotification { reports.count += 1 }
    }
    ownHub = DelegateHub(configuration)
    model.replayCount = script.replayed
    _ = Delegates((any Subject).self, of: hub, replaying: script.replayed)
  }

  var hub: DelegateHub {
    guard let ownHub else { fatalError("a call after the end") }
    return ownHub
  }

  /// How many deadlines are set and have not come.
  private var alarms: Int { clock.sleepers }

  var time: Int { Int(clock.now.offset.components.seconds) }

  // MARK: Playing

  /// Plays the schedule to its end, or up to the first violation.
  func play() -> Model.Violation? {
    for (slot, options) in script.members.enumerated() { subscribe(slot, options) }
    watchDemand()
    for (index, steps) in script.tasks.enumerated() { start(steps, as: index) }
    while model.violation == nil {
      runJobs()
      if model.violation != nil { break }
      history.note(.quiescence)
      checkQuiescence()
      if tasksLeft == 0, hanging.isEmpty, lastSteps.isEmpty { break }
      // The first one waits for handlers that hang; what they leave behind comes before the second one.
      if tasksLeft == 0, hanging.isEmpty || lastSteps.count == 2 {
        start([lastSteps.removeFirst()], as: script.tasks.count)
      } else if model.violation == nil, !goOn() {
        model.violate(3, "nothing can go on: \(model.unfinished)")
      }
    }
    if explorer.hasForeignJobs { model.violate(0, "not everything runs on the executor") }
    if model.violation == nil, alarms > 0 { model.violate(10, "an alarm is left set") }
    return model.violation
  }

  /// Lets go of the hub and the subscribers.
  func end() {
    let former = (players, ownHub)
    players = []
    ownHub = nil
    subscriptions = []
    withExtendedLifetime(former) {}
    // What waits for the hub's end, with a reference to this.
    while let entry = explorer.next() { explorer.run(entry) }
  }

  private func start(_ steps: [Script.Step], as index: Int) {
    tasksLeft += 1
    handles.append(
      Task(executorPreference: executor(ofTask: index)) {
        for step in steps { await self.perform(step, in: index) }
        self.tasksLeft -= 1
      })
  }

  private func executor(ofTask index: Int) -> any TaskExecutor {
    script.tasksElsewhere.contains(index) ? explorer.callersLane : explorer.executor
  }

  /// Starts a task that makes a handler's call, and for which the handler does not wait.
  func leaveBehind(_ step: Script.Step) {
    tasksLeft += 1
    Task(executorPreference: explorer.executor) {
      await self.perform(step, in: nil)
      self.tasksLeft -= 1
    }
  }

  private func runJobs() {
    while model.violation == nil, let entry = explorer.next() {
      history.note(.choice, entry.task ?? -1)
      explorer.run(entry)
      if explorer.steps == script.hold { explorer.hold() }
      if explorer.steps > Self.mostSteps { model.violate(3, "the schedule does not end") }
    }
  }

  /// Lets one that hangs go on, or the callers' executor, or time pass.
  private func goOn() -> Bool {
    let alarms = alarms
    if explorer.isHeld, alarms == 0 && hanging.isEmpty || dice.roll(3) == 0 {
      explorer.release()
      return true
    }
    guard alarms > 0 || !hanging.isEmpty else { return finishLines() }
    if hanging.isEmpty || alarms > 0 && dice.roll(2) == 0 {
      clock.advance(by: .seconds(1))
    } else {
      release(hanging[dice.roll(hanging.count)].ticket)
    }
    return true
  }

  private func checkQuiescence() {
    model.checkQuiescence(
      hanging: hanging.compactMap { $0.isCancellable ? $0.call : nil },
      at: time, heldTasks: explorer.isHeld ? script.tasksElsewhere : [])
    if reports.count != model.failed {
      model.violate(11, "\(model.failed) handlers failed, \(reports.count) were reported")
    }
    for player in isAlive.indices { checkDeath(of: player) }
    model.checkDemand()
  }

  /// Checks that a subscriber that nobody needs has died.
  func checkDeath(of player: Int) {
    guard isAlive[player], !isKept[player] else { return }
    let isNeeded = model.episodes.contains { episode in
      episode.player == player
        && (episode.running != nil || episode.asked > 0
          || episode.options.isStrong && !episode.isEnded)
    }
    if !isNeeded { model.violate(4, "subscriber \(player) is kept alive") }
  }

  // MARK: Subscribers

  func makePlayer(in slot: Int) -> Player {
    let player = Player(isAlive.count, in: slot, of: self, life: lifetimes.make())
    isAlive.append(true)
    isKept.append(true)
    players[slot] = player
    graves.append(Grave(player: player))
    return player
  }

  func playerDied(_ number: Int) {
    history.note(.dies, 0, number)
    isAlive[number] = false
    model.die(number)
  }

  func cancelTask(_ index: Int) {
    guard index < script.tasks.count else { return }
    model.cancelledTasks.insert(index)
    model.isCancelling = true
    handles[index].cancel()
    model.isCancelling = false
  }

  // MARK: Hanging

  func hang(_ call: Int, _ episode: Int, isCancellable: Bool) async {
    lastTicket += 1
    let ticket = lastTicket
    let player = model.episodes[episode].player
    history.note(.hangs, call, player)
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        if isCancellable, Task.isCancelled { return continuation.resume() }
        hanging.append(
          Hang(
            ticket: ticket, call: call, isCancellable: isCancellable,
            continuation: continuation))
      }
    } onCancel: {
      model.checkCancellation(of: call)
      if isCancellable { release(ticket) }
    }
    history.note(.isReleased, call, player)
  }

  private func release(_ ticket: Int) {
    guard let index = hanging.firstIndex(where: { $0.ticket == ticket }) else { return }
    hanging.remove(at: index).continuation.resume()
  }
}

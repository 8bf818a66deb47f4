import Foundation
import Synchronization
import Testing

@testable import Delegation

@Suite("RunningTasks: the tasks at work for one fan-out", .inTurn)
struct RunningTasksTests {
  /// For tasks that may have to wait for a cancellation handler which blocks.
  private static let pool = ThreadPool(threads: 2)

  @Test("places are had again: never more than were taken at once, and each by one task")
  func places() async {
    withUnsafeCurrentTask { task in
      let exploration = PlacesWorld(member: RunningTasks.Member(task!)).explore(upTo: 10)
      #expect(exploration.fault == nil)
      #expect(exploration.histories > 1_000)
    }
  }

  @Test("those at work and those who join later are cancelled, those who have left are not")
  func cancel() async {
    let runningTasks = Shared()
    let (atWork, wayOut, end) = (Gate(), Gate(), Gate())
    let early = runningTasks.start(atWork, wayOut)
    let left = Task {
      let place = runningTasks.join()
      await runningTasks.leave(place)
      atWork.arrive()
      await end.pass()
      return Task.isCancelled
    }
    await atWork.arrivals(2)
    runningTasks.cancel()
    let late = runningTasks.start(atWork, wayOut)
    wayOut.open()
    end.open()
    #expect(await early.value.isCancelled)
    #expect(await late.value.isCancelled)
    #expect(await !left.value)
    #expect(runningTasks.isEmpty)
  }

  @Test("who leaves while its handle is used does not wait if the use ends before it can")
  func usedUntilItWaits() async {
    let runningTasks = Shared()
    let place = runningTasks.join()
    let members = runningTasks.runningTasks.beginUse { $0.atWork }
    #expect(members.count == 1)
    let isFree = runningTasks.runningTasks.leave(place)
    #expect(!isFree)
    runningTasks.runningTasks.endUse()
    await runningTasks.runningTasks.waitForUsers()
    #expect(runningTasks.isEmpty)
  }

  @Test("cancelling does not come behind work of medium priority", arguments: [true, false])
  func priorityOfCancelling(all: Bool) async {
    let runningTasks = Shared()
    let gate = Gate()
    let priorities = Recorder<TaskPriority>()
    let running = Task {
      let place = runningTasks.join()
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        priorities.record(Task.currentPriority)
      }
      await runningTasks.leave(place)
    }
    await gate.arrivals()
    if all { runningTasks.cancel() } else { runningTasks.cancelOthers() }
    #expect(await priorities.history(of: 1) == [.high])
    gate.open()
    await running.value
  }

  @Test("those at work and those who join later are raised to the highest priority asked for")
  func escalate() async {
    let runningTasks = Shared()
    let (atWork, wayOut) = (Gate(), Gate())
    let early = runningTasks.start(atWork, wayOut)
    await atWork.arrivals()
    runningTasks.escalate(to: .high)
    runningTasks.escalate(to: .medium)
    let late = runningTasks.start(atWork, wayOut)
    wayOut.open()
    #expect(await early.value == Ending(isCancelled: false, priority: .high))
    #expect(await late.value == Ending(isCancelled: false, priority: .high))
    #expect(runningTasks.isEmpty)
  }

  @Test("nothing happens to a runningTasks to which nothing has happened")
  func atRest() async {
    let runningTasks = Shared()
    let (atWork, wayOut) = (Gate(), Gate())
    wayOut.open()
    let ending = await runningTasks.start(atWork, wayOut).value
    #expect(!ending.isCancelled)
    #expect(ending.priority < .high)
    #expect(runningTasks.isEmpty)
  }

  @Test("whoever leaves while others are being called waits until that is over")
  func leavingMeanwhile() async {
    let runningTasks = Shared()
    let (atWork, wayOut, inHandler) = (Gate(), Gate(), Gate())
    let mayReturn = DispatchSemaphore(value: 0)
    let slow = Task.detached(executorPreference: Self.pool) {
      await withTaskCancellationHandler {
        let place = runningTasks.join()
        atWork.arrive()
        await wayOut.pass()
        await runningTasks.leave(place)
      } onCancel: {
        inHandler.arrive()
        mayReturn.wait()
      }
    }
    let gone = Recorder<Void>()
    let leaving = Task.detached(executorPreference: Self.pool) {
      let place = runningTasks.join()
      atWork.arrive()
      await inHandler.arrivals()
      await runningTasks.leave(place)
      gone.record(())
    }
    await atWork.arrivals(2)
    // From a thread of its own, for the cancellation handler blocks it.
    Thread { runningTasks.cancel() }.start()
    while runningTasks.leaving == 0, gone.history.isEmpty { await Task.yield() }
    #expect(runningTasks.leaving == 1)
    #expect(gone.history.isEmpty)
    mayReturn.signal()
    await leaving.value
    wayOut.open()
    await slow.value
    #expect(runningTasks.isEmpty)
    // The next call finds none of those who have waited.
    let next = runningTasks.start(atWork, wayOut)
    await atWork.arrivals(3)
    runningTasks.cancel()
    #expect(await next.value.isCancelled)
    #expect(runningTasks.isEmpty)
  }

  @Test("calls and departures at the same time hold up nobody for good")
  func race() async {
    let runningTasks = Shared()
    let (atWork, wayOut) = (Gate(), Gate())
    // Those who stay, so that there is always somebody to call.
    let others = (0..<3).map { _ in runningTasks.start(atWork, wayOut) }
    await atWork.arrivals(3)
    let isOver = Atomic<Bool>(false)
    let (caller, comer) = (Gate(), Gate())
    Thread {
      while !isOver.load(ordering: .relaxed) { runningTasks.call() }
      caller.arrive()
    }.start()
    Task.detached {
      for _ in rounds(100_000) { await runningTasks.leave(runningTasks.join()) }
      comer.arrive()
    }
    await comer.arrivals()
    isOver.store(true, ordering: .relaxed)
    await caller.arrivals()
    wayOut.open()
    for other in others { _ = await other.value }
    #expect(runningTasks.isEmpty)
  }
}

/// What a member of a running tasks sees at its end.
private struct Ending: Sendable, Equatable {
  var isCancelled: Bool
  var priority: TaskPriority
}

/// A running tasks that several tasks know.
private final class Shared: Sendable {
  let runningTasks = RunningTasks()

  /// Lets the current task join.
  func join() -> RunningTasks.Place { runningTasks.join() }

  /// Lets the current task leave, when nobody uses its handle.
  func leave(_ place: RunningTasks.Place) async {
    if !runningTasks.leave(place) { await runningTasks.waitForUsers() }
  }

  /// Cancels those at work and those to come.
  func cancel() {
    runningTasks.cancel(on: nil, inPlace: false) { self.runningTasks.endUse() }
  }

  /// Cancels those at work except the current task, and those to come.
  func cancelOthers() {
    withUnsafeCurrentTask { present in
      runningTasks.cancel(except: present, on: nil, inPlace: false) { self.runningTasks.endUse() }
    }
  }

  /// Raises those at work and those to come.
  func escalate(to priority: TaskPriority) {
    runningTasks.escalate(to: priority, on: nil) { self.runningTasks.endUse() }
  }

  /// Calls something on the handles of those at work, in place.
  func call() {
    let members = runningTasks.beginUse { $0.atWork }
    if members.isEmpty { return }
    for member in members { member.task.cancel() }
    runningTasks.endUse()
  }

  /// Starts a task that joins, and leaves when it may.
  func start(_ atWork: Gate, _ wayOut: Gate) -> Task<Ending, Never> {
    Task.detached(priority: .low) {
      let place = self.join()
      atWork.arrive()
      await wayOut.pass()
      await self.leave(place)
      return Ending(isCancelled: Task.isCancelled, priority: Task.currentPriority)
    }
  }

  /// How many wait to leave.
  var leaving: Int { runningTasks.state.withLock { $0.leaving.count } }

  /// Whether nothing is left of those who were at work, nor of those who called them.
  var isEmpty: Bool {
    runningTasks.state.withLock { state in
      state.atWork.isEmpty && state.leaving.isEmpty && state.users == 0
    }
  }
}

/// Tasks that come and go in every order.
private struct PlacesWorld: SmallWorld {
  enum Step {
    case add
    case remove(RunningTasks.Place)
  }

  let member: RunningTasks.Member
  private var state = RunningTasks.State()
  private var taken: Set<RunningTasks.Place> = []
  private var most = 0

  init(member: RunningTasks.Member) {
    self.member = member
  }

  var steps: [Step] { taken.sorted().map(Step.remove) + (taken.count < 3 ? [.add] : []) }

  mutating func take(_ step: Step) -> String? {
    switch step {
    case .add:
      let place = state.add(member)
      if !taken.insert(place).inserted { return "place \(place) was taken" }
      most = max(most, taken.count)
    case .remove(let place):
      state.remove(place)
      taken.remove(place)
    }
    // Most running tasks have one member, which needs no list.
    if state.others.count > max(most, 1) - 1 {
      return "\(state.others.count) places beside the first for \(most)"
    }
    let members = [state.first] + state.others
    let occupied = members.indices.filter { members[$0] != nil }
    return occupied == taken.sorted() ? nil : "taken \(occupied), expected \(taken.sorted())"
  }
}

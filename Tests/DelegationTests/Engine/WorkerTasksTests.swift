import Testing

@testable import Delegation

@Suite("WorkerTasks: the places of one question's workers, and their tasks")
struct WorkerTasksTests {
  /// Tasks that do nothing, for their handles.
  private let tasks = (0..<12).map { _ in Task<Void, any Error> {} }

  @Test("places are had again: never more than were taken at once, and each by one task")
  func places() {
    let exploration = PlacesWorld(tasks: tasks).explore(upTo: 8)
    #expect(exploration.fault == nil)
    #expect(exploration.histories > 1_000)
  }

  @Test("whoever is cancelled, the one excepted is not, nor is one that has left")
  func cancel() {
    var workers = WorkerTasks()
    let places = [WorkerTasks.firstPlace] + (0..<3).map { _ in workers.reserve() }
    for (place, task) in zip(places, tasks) { _ = workers.keep(task, at: place) }
    workers.leave(places[2])
    for excepted in [nil, 0, 1, 3] {
      var copy = workers
      let expected = [0, 1, 3].filter { $0 != excepted }.map { tasks[$0] }
      #expect(copy.cancel(except: excepted.map { places[$0] }, inPlace: false) == expected)
    }
  }

  @Test("a task whose handle becomes known later is treated as the others were")
  func late() {
    var workers = WorkerTasks()
    #expect(workers.keep(tasks[0], at: WorkerTasks.firstPlace) == .init())
    let places = (0..<3).map { _ in workers.reserve() }
    #expect(workers.escalate(to: 25) == [tasks[0]])
    #expect(workers.keep(tasks[1], at: places[0]) == .init(priority: 25))
    #expect(workers.cancel(except: nil, inPlace: false) == [tasks[0], tasks[1]])
    #expect(
      workers.keep(tasks[2], at: places[1]) == .init(isCancelledInPlace: false, priority: 25))
    // One that has ended is treated as none, and its place is free again.
    workers.leave(places[2])
    #expect(workers.keep(tasks[3], at: places[2]) == nil)
    #expect(workers.reserve() == places[2])
  }

  @Test("once they are cancelled in the canceller's place, a later one is as well")
  func inPlace() {
    for isInPlace in [[true, false], [false, true], [true, true], [false, false]] {
      var workers = WorkerTasks()
      for isInPlace in isInPlace { _ = workers.cancel(except: nil, inPlace: isInPlace) }
      let handling = workers.keep(tasks[0], at: WorkerTasks.firstPlace)
      #expect(handling?.isCancelledInPlace == isInPlace.contains(true))
    }
  }

  @Test("the first one may end before its handle is known as well")
  func first() {
    var workers = WorkerTasks()
    workers.leave(WorkerTasks.firstPlace)
    #expect(workers.keep(tasks[0], at: WorkerTasks.firstPlace) == nil)
    #expect(workers.cancel(except: nil, inPlace: false) == [])
    #expect(workers.reserve() == WorkerTasks.firstPlace + 1)
  }

  @Test("tasks are raised to the highest priority asked for, and not to one that they have")
  func escalate() {
    var workers = WorkerTasks()
    _ = workers.keep(tasks[0], at: WorkerTasks.firstPlace)
    #expect(workers.escalate(to: 17) == [tasks[0]])
    #expect(workers.escalate(to: 17) == [])
    #expect(workers.escalate(to: 9) == [])
    #expect(workers.escalate(to: 25) == [tasks[0]])
    let place = workers.reserve()
    #expect(workers.keep(tasks[1], at: place) == .init(priority: 25))
  }
}

extension WorkerTasks.Handling: Equatable {
  init(priority: UInt8 = 0) {
    self.init(isCancelledInPlace: nil, priority: priority)
  }

  /// Whether both say the same.
  public static func == (one: Self, other: Self) -> Bool {
    one.isCancelledInPlace == other.isCancelledInPlace && one.priority == other.priority
  }
}

/// Workers that come and go in every order; a handle may become known after its task has ended.
private struct PlacesWorld: SmallWorld {
  enum Step {
    case reserve
    case keep(Int)
    case leave(Int)
  }

  private enum Place {
    case reserved, left
    case running(Task<Void, any Error>)
  }

  let tasks: [Task<Void, any Error>]
  private var workers = WorkerTasks()
  private var taken: [Int: Place] = [WorkerTasks.firstPlace: .reserved]
  private var known = 0

  init(tasks: [Task<Void, any Error>]) {
    self.tasks = tasks
  }

  var steps: [Step] {
    taken.keys.sorted().flatMap { place -> [Step] in
      switch taken[place] {
      case .reserved: [.keep(place), .leave(place)]
      case .left: [.keep(place)]
      default: [.leave(place)]
      }
    } + (taken.count < 3 ? [.reserve] : [])
  }

  mutating func take(_ step: Step) -> String? {
    switch step {
    case .reserve:
      let place = workers.reserve()
      if taken.updateValue(.reserved, forKey: place) != nil { return "place \(place) was taken" }
      // The first place is not had again.
      if !(1...3).contains(place) { return "place \(place) was reserved" }
    case .keep(let place):
      let task = tasks[known]
      known += 1
      let isKept = workers.keep(task, at: place) != nil
      if case .left = taken[place] {
        taken[place] = nil
        if isKept { return "kept one that has ended" }
      } else {
        taken[place] = .running(task)
        if !isKept { return "did not keep one that runs" }
      }
    case .leave(let place):
      workers.leave(place)
      if case .reserved = taken[place] { taken[place] = .left } else { taken[place] = nil }
    }
    return tellTasks()
  }

  private func tellTasks() -> String? {
    let expected = taken.sorted { $0.key < $1.key }.compactMap { _, place in
      if case .running(let task) = place { task } else { nil }
    }
    var copy = workers
    let found = copy.cancel(except: nil, inPlace: false)
    return found == expected ? nil : "found \(found.count) tasks, expected \(expected.count)"
  }
}

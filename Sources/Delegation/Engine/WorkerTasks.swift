/// The tasks of one question's workers, by their places.
///
/// A place is reserved before the task is started. The task may end before its handle is known, which is then not
/// kept.
struct WorkerTasks: Sendable {
  private enum Slot: Sendable {
    case free
    case reserved
    /// The task has ended before its handle was known.
    case left
    case running(Task<Void, any Error>)
  }

  /// What has been done to the others by the time that a task's handle is known.
  struct Handling: Sendable {
    /// Whether they were cancelled in the canceller's place; `nil` if they were not.
    let isCancelledInPlace: Bool?
    /// 0 for none.
    let priority: UInt8
  }

  /// The place of the first worker, which is reserved from the start.
  static var firstPlace: Int { 0 }

  /// The slot of place 0: usually there is one worker, which needs no list.
  private var first = Slot.reserved
  /// The slots from place 1 on.
  private var others: [Slot] = []
  /// Places from 1 on that can be used again.
  private var vacancies: [Int] = []
  /// The priority that the tasks have been raised to, and that new ones will be raised to.
  ///
  /// It is the raw value: an optional of the type itself would be looked up at run time.
  private var priority: UInt8 = 0
  private var isCancelledInPlace: Bool?

  /// Reserves a place.
  mutating func reserve() -> Int {
    if let place = vacancies.popLast() {
      others[place - 1] = .reserved
      return place
    }
    others.append(.reserved)
    return others.count
  }

  /// Keeps the handle of the task that was started for a place.
  ///
  /// - Returns: what was done to the others; `nil` if the task has ended.
  mutating func keep(_ task: Task<Void, any Error>, at place: Int) -> Handling? {
    if case .left = self[place] {
      free(place)
      return nil
    }
    self[place] = .running(task)
    return Handling(isCancelledInPlace: isCancelledInPlace, priority: priority)
  }

  /// Notes that a place's task has ended, or that all it has yet to do is to end.
  mutating func leave(_ place: Int) {
    if case .reserved = self[place] { self[place] = .left } else { free(place) }
  }

  /// Notes that the tasks are cancelled.
  ///
  /// - Returns: those that have to be cancelled.
  mutating func cancel(except place: Int?, inPlace isInPlace: Bool) -> [Task<Void, any Error>] {
    // For good: a handler that keeps the only thread of its executor busy is reached in place only.
    isCancelledInPlace = isInPlace || isCancelledInPlace == true
    return tasks(except: place)
  }

  /// The tasks that have not ended, as far as they are known.
  private func tasks(except place: Int?) -> [Task<Void, any Error>] {
    var tasks: [Task<Void, any Error>] = []
    if place != 0, case .running(let task) = first { tasks.append(task) }
    for index in others.indices where index + 1 != place {
      if case .running(let task) = others[index] { tasks.append(task) }
    }
    return tasks
  }

  /// Notes a priority that the tasks are raised to.
  ///
  /// - Returns: those that have to be raised to it.
  mutating func escalate(to priority: UInt8) -> [Task<Void, any Error>] {
    guard priority > self.priority else { return [] }
    self.priority = priority
    return tasks(except: nil)
  }

  private mutating func free(_ place: Int) {
    self[place] = .free
    if place > 0 { vacancies.append(place) }
  }

  private subscript(place: Int) -> Slot {
    get { place == 0 ? first : others[place - 1] }
    set { if place == 0 { first = newValue } else { others[place - 1] = newValue } }
  }
}

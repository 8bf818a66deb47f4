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

  /// The place of the first worker, which is reserved from the start.
  static var firstPlace: Int { 0 }

  /// The slot of place 0: usually there is one worker, which needs no list.
  private var first = Slot.reserved
  /// The slots from place 1 on.
  private var others: [Slot] = []
  private var isCancelled = false
  /// Places from 1 on that can be used again.
  private var vacancies: [Int] = []

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
  /// - Returns: whether it has to be cancelled, as the others were.
  mutating func keep(_ task: Task<Void, any Error>, at place: Int) -> Bool {
    if case .left = self[place] {
      free(place)
      return false
    }
    self[place] = .running(task)
    return isCancelled
  }

  /// Notes that a place's task has ended, or that all it has yet to do is to end.
  mutating func leave(_ place: Int) {
    if case .reserved = self[place] { self[place] = .left } else { free(place) }
  }

  /// Notes that the tasks are cancelled.
  ///
  /// - Returns: those that have to be cancelled, as far as they are known.
  mutating func cancel(except place: Int?) -> [Task<Void, any Error>] {
    isCancelled = true
    return (0...others.count).compactMap {
      if $0 != place, case .running(let task) = self[$0] { task } else { nil }
    }
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

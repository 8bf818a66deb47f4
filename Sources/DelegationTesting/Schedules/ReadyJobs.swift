/// The jobs of a schedule that could run.
///
/// Adding a job, taking one out and finding the oldest take the same time, however many there are.
struct ReadyJobs {
  private var entries: [Schedule.Entry] = []
  /// Where in `entries` each job is, by the number of its arrival; `nil` if it has been taken out.
  private var positions: [Int?] = []
  private var first = 0

  var count: Int { entries.count }
  var isEmpty: Bool { entries.isEmpty }

  /// The number of the job that came first.
  ///
  /// - Precondition: there is a job.
  var oldest: Int { first }

  subscript(number: Int) -> Schedule.Entry? {
    positions[number].map { entries[$0] }
  }

  /// The number of the job at a position; positions have no order.
  func number(at position: Int) -> Int { entries[position].number }

  /// Adds a job.
  ///
  /// - Returns: the job with its number, higher than all before.
  mutating func add(_ entry: Schedule.Entry) -> Schedule.Entry {
    var entry = entry
    entry.number = positions.count
    positions.append(entries.count)
    entries.append(entry)
    return entry
  }

  /// Takes a job out.
  ///
  /// - Precondition: it is there.
  mutating func remove(_ number: Int) -> Schedule.Entry {
    guard let position = positions[number] else { fatalError("There is no job \(number).") }
    positions[number] = nil
    let entry = entries[position]
    let last = entries.removeLast()
    if position < entries.count {
      entries[position] = last
      positions[last.number] = position
    }
    while first < positions.count, positions[first] == nil { first += 1 }
    return entry
  }
}

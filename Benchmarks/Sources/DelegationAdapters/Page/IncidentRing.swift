import Delegation

/// The last incidents, with the number that each has among all.
struct IncidentRing {
  struct Entry {
    let number: Int
    let instant: ContinuousClock.Instant
    let incident: DelegateHub.Incident
  }

  /// How many are kept.
  let capacity: Int
  /// How many there have been, with those that were left out.
  private(set) var total = 0
  private var next = 0
  /// The entry with number *n* is at `n % capacity`.
  private var entries: [Entry] = []

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// Adds an incident.
  ///
  /// - Returns: the one that gave way, to be released by the caller: its error may be the last reference to
  ///   something.
  mutating func add(
    _ incident: DelegateHub.Incident, at instant: ContinuousClock.Instant
  ) -> Entry? {
    total += 1 + incident.leftOut
    let entry = Entry(number: next, instant: instant, incident: incident)
    next += 1
    guard entries.count == capacity else {
      entries.append(entry)
      return nil
    }
    defer { entries[entry.number % capacity] = entry }
    return entries[entry.number % capacity]
  }

  /// Those with this number or a higher one, the oldest first.
  func since(_ number: Int) -> [Entry] {
    (max(number, next - entries.count)..<max(number, next)).map { entries[$0 % capacity] }
  }
}

/// The waiters for one count to fall.
///
/// Invariant: `excusing` is in the order of the places, and `places` has the place of each of its waiters. The
/// limit of a place is no lower than its waiter's.
struct WaitList: Sendable {
  private struct Place: Comparable, Sendable {
    let limit: Int
    /// Tells waiters of the same limit apart, by the order of arrival.
    let number: Int

    static func < (one: Place, other: Place) -> Bool {
      (one.limit, one.number) < (other.limit, other.number)
    }
  }

  /// The waiters that need the count to be zero.
  private var strict: [ObjectIdentifier: Waiter] = [:]
  /// The waiters that excuse handlers.
  private var excusing: [(place: Place, waiter: Waiter)] = []
  private var places: [ObjectIdentifier: Place] = [:]
  private var lastNumber = 0

  var isEmpty: Bool { strict.isEmpty && excusing.isEmpty }

  /// The highest count at which one of them may be resumed; -1 if there is none.
  var limit: Int { max(excusing.last?.place.limit ?? -1, strict.isEmpty ? -1 : 0) }

  /// Adds a waiter.
  ///
  /// - Complexity: O(log *n*) in the number of excusing ones if its limit is among the highest, as that of the
  ///   last handler that waits is.
  mutating func add(_ waiter: Waiter) {
    if waiter.isStrict {
      strict[ObjectIdentifier(waiter)] = waiter
      return
    }
    lastNumber += 1
    let place = Place(limit: waiter.limit, number: lastNumber)
    excusing.insert((place, waiter), at: index(of: place))
    places[ObjectIdentifier(waiter)] = place
  }

  /// Removes a waiter, if it is there.
  ///
  /// - Complexity: that of ``add(_:)``.
  mutating func remove(_ waiter: Waiter) {
    if waiter.isStrict {
      strict[ObjectIdentifier(waiter)] = nil
    } else if let place = places.removeValue(forKey: ObjectIdentifier(waiter)) {
      excusing.remove(at: index(of: place))
    }
  }

  /// Removes those of some waiters that have been resumed, and reads the limits of the others.
  mutating func settle(_ waiters: [Waiter]) {
    for waiter in waiters {
      remove(waiter)
      if waiter.outcome == nil { add(waiter) }
    }
  }

  /// Has what each excuses counted anew.
  mutating func reconsider() {
    let waiters = excusing.map(\.waiter)
    for waiter in waiters { waiter.reconsider() }
    settle(waiters)
  }

  /// The waiters that may be resumed at a count.
  ///
  /// - Complexity: O(*k*) in their number.
  func candidates(at count: Int) -> [Waiter] {
    guard count <= limit else { return [] }
    let excused = excusing.reversed().prefix { $0.place.limit >= count }.map(\.waiter)
    return count <= 0 ? Array(strict.values) + excused : excused
  }

  /// Where a place is, or would be.
  private func index(of place: Place) -> Int {
    excusing.partitioningIndex { $0.place >= place }
  }
}

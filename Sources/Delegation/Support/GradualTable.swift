/// A dictionary in which no change takes long: it grows by one small bucket at a time.
///
/// It is for data that changes under a lock that others wait for: a `Dictionary` moves all its elements
/// each time that it is full. It uses linear hashing. A round of splits goes from `roundSize` to
/// `2 * roundSize` buckets: the first `splits` buckets have been split, and their other halves are the
/// buckets from `roundSize` on.
///
/// Invariant: an element is in the bucket that `bucket(of:)` returns. It only moves to a later bucket.
struct GradualTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private typealias Bucket = [(key: Key, value: Value)]

  /// The average number of elements in a bucket at which the next bucket is split.
  private static var load: Int { 6 }
  /// How many buckets a segment has; adding a segment does not move the others.
  private static var segmentSize: Int { 256 }

  private var segments: [[Bucket]] = []
  /// How many buckets there were when the current round of splits began; a power of two, or 0.
  private var roundSize = 0
  private var splits = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// The value for a key, if there is one.
  ///
  /// - Complexity: O(1) on average to read, to set and to remove, not amortised.
  subscript(key: Key) -> Value? {
    get {
      guard count > 0 else { return nil }
      let (segment, offset) = bucket(of: key)
      return segments[segment][offset].first { $0.key == key }?.value
    }
    set {
      if let newValue { update(key) { $0 = newValue } } else { removeValue(forKey: key) }
    }
  }

  /// Changes the value for a key in place, whether or not there is one.
  ///
  /// - Returns: what the closure returns.
  mutating func update<Result>(_ key: Key, _ change: (inout Value?) -> Result) -> Result {
    if roundSize == 0 {
      segments = [[[]]]
      roundSize = 1
    }
    let (segment, offset) = bucket(of: key)
    guard let index = segments[segment][offset].firstIndex(where: { $0.key == key }) else {
      var value: Value?
      let result = change(&value)
      if let value {
        segments[segment][offset].append((key, value))
        count += 1
        splitIfFull()
      }
      return result
    }
    var value: Value? = segments[segment][offset].remove(at: index).value
    let result = change(&value)
    if let value {
      segments[segment][offset].append((key, value))
    } else {
      countOff(segment, offset)
    }
    return result
  }

  /// Removes the value for a key.
  ///
  /// - Returns: the value, if there was one.
  @discardableResult
  mutating func removeValue(forKey key: Key) -> Value? {
    guard count > 0 else { return nil }
    let (segment, offset) = bucket(of: key)
    guard let index = segments[segment][offset].firstIndex(where: { $0.key == key }) else {
      return nil
    }
    let value = segments[segment][offset].remove(at: index).value
    countOff(segment, offset)
    return value
  }

  /// Reads the next bucket, for iterating while the table changes.
  ///
  /// An iteration meets every element that stays in the table; it may meet those that are added
  /// meanwhile.
  ///
  /// - Parameter place: the position of the iteration; begins with 0.
  /// - Returns: the values of a bucket; `nil` at the end.
  func values(at place: inout Int) -> [Value]? {
    guard place < roundSize + splits else { return nil }
    defer { place += 1 }
    return segments[place / Self.segmentSize][place % Self.segmentSize].map(\.value)
  }

  /// All values, in unspecified order.
  var values: [Value] { segments.joined().flatMap { $0.map(\.value) } }

  private func bucket(of key: Key) -> (segment: Int, offset: Int) {
    let hash = key.hashValue
    var place = hash & (roundSize - 1)
    if place < splits { place = hash & (2 * roundSize - 1) }
    return (place / Self.segmentSize, place % Self.segmentSize)
  }

  private mutating func splitIfFull() {
    guard count > Self.load * (roundSize + splits) else { return }
    let old = splits
    let new = roundSize + splits
    let elements = segments[old / Self.segmentSize][old % Self.segmentSize]
    var kept: Bucket = []
    var moved: Bucket = []
    for element in elements {
      if element.key.hashValue & roundSize == 0 {
        kept.append(element)
      } else {
        moved.append(element)
      }
    }
    segments[old / Self.segmentSize][old % Self.segmentSize] = kept
    if new % Self.segmentSize == 0 {
      var segment: [Bucket] = []
      segment.reserveCapacity(Self.segmentSize)
      segments.append(segment)
    }
    segments[new / Self.segmentSize].append(moved)
    splits += 1
    if splits == roundSize { (roundSize, splits) = (2 * roundSize, 0) }
  }

  /// Lowers the count by one, and frees the bucket's memory if the bucket is empty now.
  private mutating func countOff(_ segment: Int, _ offset: Int) {
    count -= 1
    if segments[segment][offset].isEmpty { segments[segment][offset] = [] }
  }
}

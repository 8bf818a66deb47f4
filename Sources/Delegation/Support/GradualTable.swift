/// A dictionary of which no change takes long: it grows and shrinks by one small bucket at a time.
///
/// It is for data that changes under a lock that others wait for: a `Dictionary` moves all its elements
/// each time that it is full. It uses linear hashing. A round of splits goes from `roundSize` to
/// `2 * roundSize` buckets: the first `splits` buckets have been split, and their other halves are the
/// buckets from `roundSize` on.
///
/// Invariant: an element is in the bucket that `bucket(of:)` says. There are at most one bucket and one more
/// for every two elements, so that going through the table takes as long as it has elements, whatever it had.
struct GradualTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private typealias Bucket = [(key: Key, value: Value)]

  /// The average number of elements in a bucket at which the next bucket is split.
  private static var load: Int { 6 }
  /// How many it has, on average, when two are put together again.
  private static var leastLoad: Int { 2 }
  /// Of that many buckets each, so that none moves when more are added.
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
    set { update(key) { $0 = newValue } }
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
    let index = segments[segment][offset].firstIndex { $0.key == key }
    var value = index.map { segments[segment][offset].remove(at: $0).value }
    let result = change(&value)
    if let value {
      segments[segment][offset].append((key, value))
      if index == nil {
        count += 1
        splitIfFull()
      }
    } else if index != nil {
      countOff(segment, offset)
    }
    return result
  }

  /// Removes the value for a key.
  ///
  /// - Returns: the value, if there was one.
  @discardableResult
  mutating func removeValue(forKey key: Key) -> Value? {
    count == 0 ? nil : update(key) { $0.take() }
  }

  /// How far a look through a table has come.
  ///
  /// A bucket is what has certain last bits of its hash in common. In the order of the hashes read from the
  /// last bit on, it is therefore one piece, and stays in its place however it is split or put together: all
  /// before `next` have been met.
  struct Place: Sendable {
    fileprivate var next: UInt64? = 0
  }

  /// Goes on looking through the table, one bucket further.
  ///
  /// What is in the table all the time is met, though it grows or shrinks; what comes meanwhile may be, too,
  /// and if it shrinks some may be met twice.
  ///
  /// - Parameter place: how far the look has come.
  /// - Returns: the values of a bucket; `nil` at the end.
  func values(at place: inout Place) -> [Value]? {
    guard let next = place.next, roundSize > 0 else { return nil }
    let bucket = bucket(ofHash: next.bitsReversed)
    // The second half of a split bucket ends where the whole one would.
    let bits = roundSize.trailingZeroBitCount + (bucket < splits ? 1 : 0)
    // The last hash of the bucket in that order; a shift by all bits leaves none.
    let last = next | UInt64.max >> bits
    place.next = last == .max ? nil : last + 1
    return segments[bucket / Self.segmentSize][bucket % Self.segmentSize].map(\.value)
  }

  private func bucket(of key: Key) -> (segment: Int, offset: Int) {
    let place = bucket(ofHash: UInt64(truncatingIfNeeded: key.hashValue))
    return (place / Self.segmentSize, place % Self.segmentSize)
  }

  private func bucket(ofHash hash: UInt64) -> Int {
    let hash = Int(truncatingIfNeeded: hash)
    let place = hash & (roundSize - 1)
    return place < splits ? hash & (2 * roundSize - 1) : place
  }

  private mutating func splitIfFull() {
    guard count > Self.load * (roundSize + splits) else { return }
    let old = splits
    let new = roundSize + splits
    var elements = segments[old / Self.segmentSize][old % Self.segmentSize]
    let firstMoved = elements.partition { $0.key.hashValue & roundSize != 0 }
    segments[old / Self.segmentSize][old % Self.segmentSize] = Array(elements[..<firstMoved])
    if new % Self.segmentSize == 0 {
      var segment: [Bucket] = []
      segment.reserveCapacity(Self.segmentSize)
      segments.append(segment)
    }
    segments[new / Self.segmentSize].append(Array(elements[firstMoved...]))
    splits += 1
    if splits == roundSize { (roundSize, splits) = (2 * roundSize, 0) }
  }

  /// Lowers the count by one, and frees the bucket's memory if the bucket is empty now.
  private mutating func countOff(_ segment: Int, _ offset: Int) {
    count -= 1
    if segments[segment][offset].isEmpty { segments[segment][offset] = [] }
    mergeIfSparse()
  }

  /// Puts the bucket that was split off last to the one that it comes from, if there are too many.
  private mutating func mergeIfSparse() {
    guard count < Self.leastLoad * (roundSize + splits - 1) else { return }
    if splits == 0 { (roundSize, splits) = (roundSize / 2, roundSize / 2) }
    splits -= 1
    let old = splits
    let new = roundSize + splits
    let moved = segments[new / Self.segmentSize].removeLast()
    if new % Self.segmentSize == 0 { segments.removeLast() }
    if !moved.isEmpty { segments[old / Self.segmentSize][old % Self.segmentSize] += moved }
  }
}

extension UInt64 {
  /// The same bits, the last one first.
  fileprivate var bitsReversed: UInt64 {
    var bits = byteSwapped
    bits = bits >> 4 & 0x0F0F_0F0F_0F0F_0F0F | (bits & 0x0F0F_0F0F_0F0F_0F0F) << 4
    bits = bits >> 2 & 0x3333_3333_3333_3333 | (bits & 0x3333_3333_3333_3333) << 2
    return bits >> 1 & 0x5555_5555_5555_5555 | (bits & 0x5555_5555_5555_5555) << 1
  }
}

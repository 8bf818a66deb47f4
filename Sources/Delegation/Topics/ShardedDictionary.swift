/// A dictionary in parts, of which one grows at a time.
///
/// It is for data that changes under a lock that others wait for: a dictionary moves all its elements when it is full,
/// and these parts are too small for that to take long.
struct ShardedDictionary<Value: Sendable>: Sendable {
  /// Empty, or 16 of them.
  private var parts: [[Int: Value]] = []
  private(set) var count = 0

  /// The value for a key, which is an address or a hash.
  subscript(key: Int) -> Value? {
    get { parts.isEmpty ? nil : parts[part(of: key)][key] }
    set {
      if parts.isEmpty { parts = Array(repeating: [:], count: 16) }
      let part = part(of: key)
      count -= parts[part].count
      parts[part][key] = newValue
      count += parts[part].count
      // A peak's memory is not kept, and who goes through the rest does not go through it.
      if newValue == nil, parts[part].capacity > 64 + 8 * parts[part].count {
        parts[part] = Dictionary(uniqueKeysWithValues: parts[part].lazy.map { ($0, $1) })
      }
    }
  }

  /// Any of the values.
  var first: Value? { parts.first { !$0.isEmpty }?.first?.value }

  /// All values, in unspecified order.
  var values: some Sequence<Value> { parts.lazy.flatMap(\.values) }

  private func part(of key: Int) -> Int {
    // Addresses differ above their alignment; the golden ratio spreads them over the upper bits.
    Int(truncatingIfNeeded: (UInt64(bitPattern: Int64(key)) &* 0x9E37_79B9_7F4A_7C15) >> 60)
  }
}

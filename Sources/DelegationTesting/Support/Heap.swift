/// Values of which the least can be found and taken out quickly.
///
/// Invariant: no value is less than its parent, which is at half its index.
struct Heap<Value: Comparable & Sendable>: Sendable {
  /// The least value first, the others in no order.
  private(set) var values: [Value] = []

  mutating func insert(_ value: Value) {
    values.append(value)
    var child = values.count - 1
    while child > 0, values[child] < values[(child - 1) / 2] {
      values.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    let last = values.removeLast()
    if values.isEmpty { return }
    values[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < values.count && values[child] < values[least] {
        least = child
      }
      if least == parent { return }
      values.swapAt(parent, least)
      parent = least
    }
  }

  mutating func removeAll(where isRemoved: (Value) -> Bool) {
    values.removeAll(where: isRemoved)
    // A sorted array is a heap.
    values.sort()
  }
}

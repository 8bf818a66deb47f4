/// Values of which the highest can be found and taken out quickly.
struct Heap<Value: Comparable & Sendable>: Sendable {
  private var values: [Value] = []

  var highest: Value? { values.first }

  mutating func insert(_ value: Value) {
    values.append(value)
    var child = values.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      if values[child] <= values[parent] { return }
      values.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeHighest() {
    let last = values.removeLast()
    if values.isEmpty { return }
    values[0] = last
    var parent = 0
    while true {
      var highest = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < values.count && values[child] > values[highest] {
        highest = child
      }
      if highest == parent { return }
      values.swapAt(parent, highest)
      parent = highest
    }
  }
}

/// A first-in, first-out queue on one array.
@frozen
@usableFromInline
struct Queue<Element> {
  @usableFromInline
  var elements: [Element?] = []
  @usableFromInline
  var head = 0

  /// How many elements' memory an empty queue may keep.
  @inlinable
  static var largestKept: Int { 64 }

  @inlinable
  init() {}

  @inlinable
  var count: Int { elements.count - head }
  @inlinable
  var isEmpty: Bool { elements.isEmpty }

  @inlinable
  mutating func append(_ element: Element) {
    elements.append(element)
  }

  var first: Element? { isEmpty ? nil : elements[head] }

  /// - Complexity: O(1), amortised.
  @inlinable
  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      elements[head] = nil
      head += 1
      if head == elements.count {
        // A flood's memory is not kept once it has been handled.
        elements.removeAll(keepingCapacity: elements.capacity <= Self.largestKept)
        head = 0
      } else if head > 32, head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  /// All elements, in order.
  var all: [Element] { elements[head...].compactMap(\.self) }

  /// Removes and returns all elements, in order.
  @inlinable
  mutating func takeAll() -> [Element] {
    defer { self = Queue() }
    return elements[head...].compactMap(\.self)
  }
}

extension Queue: Sendable where Element: Sendable {}

extension RandomAccessCollection {
  /// The first index from which on a condition holds; the end if it holds nowhere.
  ///
  /// - Parameter condition: holds for no element before one for which it does not hold.
  /// - Returns: the index.
  /// - Complexity: O(log *n*).
  func partitioningIndex(where condition: (Element) -> Bool) -> Index {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
      if condition(self[middle]) { high = middle } else { low = index(after: middle) }
    }
    return low
  }
}

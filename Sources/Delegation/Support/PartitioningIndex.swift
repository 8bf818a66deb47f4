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

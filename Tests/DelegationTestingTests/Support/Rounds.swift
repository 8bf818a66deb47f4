import Foundation

/// As many seeds as `DELEGATION_TEST_SEEDS` says, or the given number.
func seeds(_ usual: Int) -> Range<UInt64> {
  let count = ProcessInfo.processInfo.environment["DELEGATION_TEST_SEEDS"].flatMap(Int.init)
  return 0..<UInt64(max(1, count ?? usual))
}

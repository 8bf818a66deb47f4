import Foundation

/// As many seeds as the given number, multiplied with `DELEGATION_EFFORT`; see there in the hub's tests.
func seeds(_ usual: Int) -> Range<UInt64> {
  let factor = ProcessInfo.processInfo.environment["DELEGATION_EFFORT"].flatMap(Double.init) ?? 1
  return 0..<UInt64(max(1, Double(usual) * factor))
}

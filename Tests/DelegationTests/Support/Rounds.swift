import Foundation

/// How often a test of a race repeats: `DELEGATION_TEST_ROUNDS`, or the given number.
func rounds(_ usual: Int) -> Range<Int> {
  let wanted = ProcessInfo.processInfo.environment["DELEGATION_TEST_ROUNDS"].flatMap(Int.init)
  return 0..<max(1, wanted ?? usual)
}

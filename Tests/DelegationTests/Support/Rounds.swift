import Foundation

/// How often a test of a race repeats: `DELEGATION_TEST_ROUNDS`, or the given number.
func rounds(_ usual: Int) -> Range<Int> {
  0..<max(1, number(of: "DELEGATION_TEST_ROUNDS") ?? usual)
}

/// What a test with random numbers is repeated with: as many seeds as `DELEGATION_TEST_SEEDS` says, or
/// the given number, from `DELEGATION_TEST_FIRST_SEED` on, or from 1.
///
/// The seeds are the test's arguments, so a failure names its own.
func seeds(_ usual: Int) -> [UInt64] {
  let first = max(0, number(of: "DELEGATION_TEST_FIRST_SEED") ?? 1)
  let count = max(1, number(of: "DELEGATION_TEST_SEEDS") ?? usual)
  return (first..<first + count).map(UInt64.init)
}

private func number(of variable: String) -> Int? {
  ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
}

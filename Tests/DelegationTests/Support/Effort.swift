import Foundation

/// How much those tests try that find something by trying.
///
/// These are tests of races, tests with random numbers, and the explorer's schedules. The number that
/// stands at each of them is that of a usual run, with which `swift test` takes well under 100 seconds
/// of one core.
///
/// - `DELEGATION_EFFORT` multiplies all of these numbers; 1 if it is not set. Fractions make less of
///   them, for builds that are slow.
/// - `DELEGATION_FIRST_SEED` is the first of the seeds that random tests and the explorer go through;
///   1 if it is not set. Another one makes a run try what no run has tried before.
/// - `DELEGATION_SEED` makes the explorer play one schedule, and print it; see ``Explorer``.
///
/// For example:
///
///     DELEGATION_EFFORT=4 swift test                                            # a longer run
///     DELEGATION_EFFORT=40 DELEGATION_FIRST_SEED=$(date +%s) swift test         # a night's
///     DELEGATION_EFFORT=0.5 swift test --no-parallel --sanitize=address         # in a slow build
///     DELEGATION_FIRST_SEED=17 swift test --filter Storm                        # from seed 17 on
enum Effort {
  /// What all numbers are multiplied with.
  static let factor = max(0, variable("DELEGATION_EFFORT").flatMap(Double.init) ?? 1)

  /// The first seed.
  static let firstSeed = variable("DELEGATION_FIRST_SEED").flatMap(UInt64.init) ?? 1

  /// The one schedule that the explorer is to play, if it is to play only one.
  static let onlySeed = variable("DELEGATION_SEED").flatMap(UInt64.init)

  /// How long a race between threads may go on, whatever its number of rounds.
  static let timeOfARace = Duration.milliseconds(1500) * max(1, factor)

  /// What remains of a usual number, or becomes of it.
  ///
  /// - Parameters:
  ///   - usual: the number in a usual run.
  ///   - least: the number below which the test would prove nothing.
  /// - Returns: the number in this run.
  static func count(_ usual: Int, atLeast least: Int = 1) -> Int {
    max(least, Int((Double(usual) * factor).rounded()))
  }

  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name]
  }
}

/// How often a test of a race repeats, by the number of times in a usual run; see ``Effort``.
func rounds(_ usual: Int, atLeast least: Int = 1) -> Range<Int> {
  0..<Effort.count(usual, atLeast: least)
}

/// How often a race between threads repeats: that often in a usual run, unless the machine is so busy
/// that its time is up before; see ``Effort`` and ``Meeting``.
func races(_ usual: Int) -> some Sequence<Int> {
  let end = ContinuousClock.now + Effort.timeOfARace
  return rounds(usual).lazy.prefix { $0 == 0 || ContinuousClock.now < end }
}

/// The seeds that a test with random numbers is repeated with, by their number in a usual run; see
/// ``Effort``.
///
/// The seeds are the test's arguments, so a failure names its own.
func seeds(_ usual: Int) -> [UInt64] {
  (0..<UInt64(Effort.count(usual))).map { Effort.firstSeed &+ $0 }
}

import Foundation

/// Who takes part: the hub, and what people use in its place.
enum Peer: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
  case hub = "the hub"
  /// A plain loop over weak references behind a mutex, or behind an actor where answers are awaited.
  case loop
  case center = "NotificationCenter"
  /// An `AsyncStream` for each, whose continuations stand behind a mutex.
  case stream = "AsyncStream"
  /// A task for each delivery, a task group for each question.
  case tasks
  /// A serial queue for each, as XMPPFramework's `GCDMulticastDelegate` has.
  case queues
}

/// What one contestant does: something so many times; returns how long the part that counts took, in nanoseconds.
typealias Turn = @Sendable (_ times: Int) async -> Double

/// The medians of a row for one size.
struct Result: Codable, Sendable {
  let row: String
  let size: Int
  let unit: Unit
  /// What it takes each of them.
  let figures: [Peer: Double]
  /// How many times as much it takes them as the hub: the median of the rounds' ratios.
  let ratios: [Peer: Double]
  /// The same of the processor's time, of the round in which each took least.
  var costs: [Peer: Double]

  enum Unit: String, Codable, Sendable {
    case nanoseconds, bytes
    /// How many times the work of one caller two do at once; each column by itself, and more is better.
    case callers
  }
}

/// A question that users ask, measured among so many.
struct Row: Sendable {
  let name: String
  var unit = Result.Unit.nanoseconds
  /// Whether all that it costs is in the figure.
  var isWhole = true
  /// The sizes, if they are not the plan's.
  var sizes: [Int]?
  /// How many of what is measured one time is, among so many.
  var units: @Sendable (_ size: Int) -> Int = { _ in 1 }
  /// Makes those who take part, among so many, and what they need.
  let contestants: @Sendable (_ size: Int) async -> [(Peer, Turn)]

  /// Measures all rounds, everybody once in each, in an order drawn anew.
  ///
  /// `@concurrent`, because each hop from the main actor would cost a thread switch that would drown what is measured.
  @concurrent
  func measure(among size: Int, _ plan: Plan) async -> Result {
    if unit == .bytes { return result(size, Memory.measure(among: size).mapValues { [($0, $0)] }) }
    let contestants = await contestants(size)
    var times: [Int] = []
    for (_, turn) in contestants { times.append(await Self.calibrate(turn, plan.turn)) }
    var found: [Peer: [(figure: Double, cost: Double)]] = [:]
    for _ in 0..<plan.rounds {
      for index in contestants.indices.shuffled() {
        let ((peer, turn), before) = (contestants[index], processorTime())
        let elapsed = await turn(times[index])
        let cost = processorTime() - before
        let figure =
          unit == .callers
          ? 2 * elapsed / (await Self.both(turn, times[index]))
          : elapsed / Double(times[index] * units(size))
        found[peer, default: []].append((figure, cost / Double(times[index])))
      }
    }
    return result(size, found)
  }

  private func result(
    _ size: Int, _ found: [Peer: [(figure: Double, cost: Double)]]
  ) -> Result {
    /// What interrupts a round only adds to it.
    func lowest(_ rounds: [(figure: Double, cost: Double)]) -> Double {
      rounds.map(\.cost).min() ?? .nan
    }
    let (figures, hub) = (found.mapValues { median($0.map(\.figure)) }, found[.hub] ?? [])
    return Result(
      row: name, size: size, unit: unit, figures: figures,
      ratios: unit == .callers
        ? figures : found.mapValues { median(zip($0, hub).map { $0.figure / $1.figure }) },
      costs: found.mapValues { lowest($0) / lowest(hub) })
  }

  /// How long it takes if two tasks do it at once, each as many times.
  private static func both(_ turn: @escaping Turn, _ times: Int) async -> Double {
    await stopwatch {
      async let other = turn(times)
      _ = await (turn(times), other)
    }
  }

  /// Finds how many times fill a turn, and warms the contestant up by the way.
  ///
  /// The whole turn counts here, what is not measured of it included: that is what makes the program long.
  private static func calibrate(_ turn: Turn, _ length: Double) async -> Int {
    var times = 1
    while true {
      let elapsed = await stopwatch { _ = await turn(times) }
      if elapsed >= length / 2 { return max(1, Int(Double(times) * length / elapsed)) }
      times *= 2
    }
  }
}

/// The one in the middle, or above it.
func median(_ values: [Double]) -> Double {
  values.isEmpty ? .nan : values.sorted()[values.count / 2]
}

/// How long the processor has been at work for this program, on all cores, in nanoseconds.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// How long something takes, in nanoseconds.
nonisolated(nonsending)
  func stopwatch(_ body: nonisolated(nonsending) () async -> Void) async -> Double
{
  let start = ContinuousClock.now
  await body()
  return (ContinuousClock.now - start) / .nanoseconds(1)
}

/// Who takes part: the hub, and what people use in its place.
enum Peer: String, CaseIterable, Sendable {
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
struct Result: Sendable {
  let row: String
  let size: Int
  let unit: Unit
  /// What it takes each of them.
  let figures: [Peer: Double]
  /// How many times as much it takes them as the hub: the median of the rounds' ratios.
  let ratios: [Peer: Double]

  enum Unit: Sendable { case nanoseconds, bytes }
}

/// A question that users ask, measured among so many.
struct Row: Sendable {
  let name: String
  /// What a figure is of.
  let unit: String
  /// The sizes, if they are not the plan's.
  var sizes: [Int]?
  /// How many of the unit one time is, among so many.
  var units: @Sendable (_ size: Int) -> Int = { _ in 1 }
  /// Makes those who take part, among so many, and what they need.
  let contestants: @Sendable (_ size: Int) async -> [(Peer, Turn)]
  /// In place of the contestants: what it takes of memory.
  var bytes: (@Sendable (_ size: Int) -> [(Peer, Double)])?

  /// Measures all rounds, everybody once in each, in an order drawn anew.
  ///
  /// `@concurrent`, because each hop from the main actor would cost a thread switch that would drown what is measured.
  @concurrent
  func measure(among size: Int, _ plan: Plan) async -> Result {
    if let bytes {
      // What other threads release meanwhile is in the allocator's count too.
      let found = (0..<plan.rounds).flatMap { _ in bytes(size) }
      let figures = Dictionary(grouping: found, by: \.0).mapValues { median($0.map(\.1)) }
      let hub = figures[.hub] ?? .nan
      return Result(
        row: name, size: size, unit: .bytes, figures: figures,
        ratios: figures.mapValues { $0 / hub })
    }
    let contestants = await contestants(size)
    var times: [Int] = []
    for (_, turn) in contestants { times.append(await Self.calibrate(turn, plan.turn)) }
    var found: [Peer: [Double]] = [:]
    for _ in 0..<plan.rounds {
      for index in contestants.indices.shuffled() {
        let (peer, turn) = contestants[index]
        let elapsed = await turn(times[index])
        found[peer, default: []].append(elapsed / Double(times[index] * units(size)))
      }
    }
    let hub = found[.hub] ?? []
    return Result(
      row: name, size: size, unit: .nanoseconds, figures: found.mapValues(median),
      ratios: found.mapValues { median(zip($0, hub).map { $0 / $1 }) })
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

/// The one in the middle.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  if sorted.isEmpty { return .nan }
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// How long something takes, in nanoseconds.
nonisolated(nonsending)
  func stopwatch(_ body: nonisolated(nonsending) () async -> Void) async -> Double
{
  let start = ContinuousClock.now
  await body()
  return (ContinuousClock.now - start) / .nanoseconds(1)
}

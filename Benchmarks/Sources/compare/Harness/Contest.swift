/// Contestants who do the same thing, measured in turns in one process.
///
/// A noisy machine makes times useless, but it slows down neighbours alike: every round lets every
/// contestant run once, in an order drawn anew, and ratios are taken within a round.
struct Contest: Sendable {
  /// The row's name, by which `--only` finds it.
  let id: String
  /// What one unit is: times are per unit.
  let unit: String
  /// Who takes part.
  let contestants: [Contestant]
  /// The lines that it adds to the table.
  let comparisons: [Comparison]

  /// Measures all rounds.
  ///
  /// `@concurrent`, because each hop from the main actor, where `main` runs, costs a thread switch
  /// that would drown what is measured.
  ///
  /// - Parameter plan: how much is measured.
  /// - Returns: the table's lines, one for each comparison.
  @concurrent
  func run(_ plan: Plan) async -> [Line] {
    let contestants = contestants.filter { $0.name.hasPrefix(plan.soloist ?? "") }
    var iterations: [Int] = []
    for contestant in contestants {
      iterations.append(await calibrate(contestant, turn: plan.turn))
    }
    var times: [String: [Nanoseconds]] = [:]
    for _ in 0..<plan.rounds {
      for index in contestants.indices.shuffled() {
        let contestant = contestants[index]
        let time = await contestant.run(iterations[index])
        let units = Double(iterations[index] * contestant.units)
        times[contestant.name, default: []].append(time / units)
      }
    }
    let lines = plan.soloist == nil ? comparisons : contestants.map { .alone($0.name) }
    return lines.compactMap { line(for: $0, from: times) }
  }

  /// Finds how many iterations fill a turn, and warms the contestant up by the way.
  ///
  /// The whole turn counts here, the part that is not measured included: it is what makes the
  /// program long.
  private func calibrate(_ contestant: Contestant, turn: Nanoseconds) async -> Int {
    var iterations = 1
    while true {
      let elapsed = await stopwatch { _ = await contestant.run(iterations) }
      if elapsed >= turn / 2 {
        return max(contestant.leastIterations, Int(Double(iterations) * turn / elapsed))
      }
      iterations *= 2
    }
  }

  /// Makes one line of the table, or none if the plan left out one of the two contestants.
  private func line(for comparison: Comparison, from times: [String: [Nanoseconds]]) -> Line? {
    guard let own = times[comparison.subject] else { return nil }
    var line = Line(
      row: id, unit: unit, scale: .nanoseconds, comparison: comparison, figure: Samples(own))
    if let name = comparison.reference {
      guard let other = times[name] else { return nil }
      line.reference = Samples(other)
      line.ratio = Samples(zip(own, other).map { $0 / $1 })
    }
    return line
  }
}

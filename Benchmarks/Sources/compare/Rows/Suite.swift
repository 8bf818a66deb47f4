/// A part of the table that is measured when its turn comes, so that no other's subscribers lie about
/// meanwhile.
struct Row: Sendable {
  /// The row's name, by which `--only` finds it.
  let id: String
  /// Sets everything up, measures it, and gives the table's lines.
  let measure: @Sendable (Plan) async -> [Line]

  /// A row that a contest makes.
  ///
  /// - Parameters:
  ///   - id: the row's name.
  ///   - contest: sets the contest up, outside every measurement.
  init(_ id: String, contest: @escaping @Sendable (Plan) async -> Contest) {
    self.id = id
    measure = { plan in await contest(plan).run(plan) }
  }

  /// A row that is measured in a way of its own.
  ///
  /// - Parameters:
  ///   - id: the row's name.
  ///   - measure: sets everything up, measures it, and gives the table's lines.
  init(_ id: String, measure: @escaping @Sendable (Plan) async -> [Line]) {
    self.id = id
    self.measure = measure
  }

  /// Measures the row, and once more as long as it fails the gate.
  ///
  /// A regression fails each time, and what other programs did meanwhile does not.
  ///
  /// - Parameters:
  ///   - plan: how much is measured.
  ///   - gate: decides whether a line fails.
  ///   - again: how many times more it is measured at most.
  /// - Returns: the lines of the last time.
  func measure(_ plan: Plan, judgedBy gate: Gate, again: Int) async -> [Line] {
    var lines = await measure(plan)
    for _ in 0..<again where lines.contains(where: { gate.verdict(on: $0)?.fails ?? false }) {
      lines = await measure(plan)
    }
    return lines
  }
}

/// All rows of the table, in its order.
enum Suite {
  /// Memory first, while no other row's hub is being let go of; then calls in place, votes, notifications, what a single
  /// one costs, subscriptions, waits, and what the machine itself does.
  static let rows: [Row] =
    memoryRows + forEachRows + voteRows + vetoRows + suspendingRows + inlineRows + notifyRows
    + asyncRows + latencyRows + postingRows + subscribingRows + waitingRows + hugeRows + controlRows

  /// Finds rows by name.
  ///
  /// - Parameter text: a row's name, or a part of several; `nil` for all.
  /// - Returns: the row of that very name if there is one, or else all whose names contain the text.
  static func rows(named text: String?) -> [Row] {
    guard let text else { return rows }
    let exact = rows.filter { $0.id == text }
    return exact.isEmpty ? rows.filter { $0.id.contains(text) } : exact
  }
}

/// A contest that is built when its turn comes, so that no other's subscribers lie about meanwhile.
struct Row: Sendable {
  /// The contest's name.
  let id: String
  /// Sets everything up, outside every measurement.
  let contest: @Sendable (Plan) async -> Contest
}

/// All rows of the table, in its order.
enum Suite {
  /// Votes, then notifications, then what a single one costs, then what the machine itself does.
  static let rows: [Row] = voteRows + notifyRows + latencyRows + postingRows + controlRows

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

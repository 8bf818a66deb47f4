/// Lines in columns, as Markdown, so that a README can show what a terminal did.
struct Table {
  /// The lines so far.
  private(set) var lines: [Line] = []

  /// Adds lines at the end.
  ///
  /// - Parameter more: what is added.
  mutating func append(_ more: [Line]) { lines += more }

  /// All of it, padded to columns.
  ///
  /// - Parameter gate: what says whether targets are reached.
  /// - Returns: the table.
  func text(judgedBy gate: Gate) -> String {
    let rows =
      [Line.headings + ["allowance", "reached"]]
      + lines.map { line in
        line.cells + [
          gate.allowance(for: line).map { "\(Int(($0 * 100).rounded())) %" } ?? "",
          gate.verdict(on: line)?.rawValue ?? "",
        ]
      }
    let widths = rows[0].indices.map { column in
      rows.map { $0[column].count }.max() ?? 0
    }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|")
    var printed = rows.map { cells in
      "| "
        + zip(cells, widths).map { cell, width in
          cell + String(repeating: " ", count: width - cell.count)
        }.joined(separator: " | ") + " |"
    }
    printed.insert(rule + "|", at: 1)
    return printed.joined(separator: "\n")
  }
}

/// Lines in columns, as Markdown, so that a README can show what a terminal did.
struct Table {
  /// The lines so far.
  private(set) var lines: [Line] = []

  /// Adds lines at the end.
  ///
  /// - Parameter more: what is added.
  mutating func append(_ more: [Line]) { lines += more }

  /// All of it, padded to columns.
  var description: String {
    let rows = [Line.headings] + lines.map(\.cells)
    let widths = Line.headings.indices.map { column in
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

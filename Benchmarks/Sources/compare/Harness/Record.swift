import Foundation

/// What a run has measured, as text that programs read: the documentation's charts are drawn from it.
///
/// Its JSON has a line for each of the table's, so that two records can be compared line by line.
struct Record {
  /// Under which conditions the figures came about.
  struct Conditions: Encodable {
    /// The operating system.
    let system: String
    /// How many cores there are.
    let cores: Int
    /// The load average before.
    let load: Double
    /// How many rounds were measured.
    let rounds: Int
  }

  /// One of the table's lines.
  private struct Entry: Encodable {
    let row, per, scale, who: String
    /// The first quartile, the median and the third quartile.
    let figure: [Double]
    let against: String?
    let itsFigure, ratio: [Double]?

    init(_ line: Line) {
      row = line.row
      per = line.unit
      scale = line.scale == .bytes ? "bytes" : "ns"
      who = line.comparison.subject
      figure = quartiles(line.figure)
      against = line.comparison.reference
      itsFigure = line.reference.map(quartiles)
      ratio = line.ratio.map(quartiles)
    }
  }

  /// Under which conditions the figures came about.
  let conditions: Conditions
  /// The table's lines.
  let lines: [Line]

  /// The JSON.
  ///
  /// - Returns: the text, with a line for each of the table's.
  /// - Throws: what the encoder throws.
  func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    func json(_ value: some Encodable) throws -> String {
      String(decoding: try encoder.encode(value), as: UTF8.self)
    }
    let entries = try lines.map { try json(Entry($0)) }
    return """
      {"conditions":\(try json(conditions)),"lines":[
      \(entries.joined(separator: ",\n"))
      ]}

      """
  }
}

/// The first quartile, the median and the third quartile, each in four digits that count.
private func quartiles(_ samples: Samples) -> [Double] {
  [samples.middleHalf.lowerBound, samples.median, samples.middleHalf.upperBound].map { value in
    Double(String(format: "%.4g", value)) ?? value
  }
}

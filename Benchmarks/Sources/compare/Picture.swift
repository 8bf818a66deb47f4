import Foundation

/// README's picture: four of the rows, by how many there are, on logarithmic scales.
struct Picture {
  private static let rows = [
    ("tell, in bursts of 100", "Telling, a delivery"),
    ("ask, awaiting", "Asking, until the outcome"),
    ("streams, in bursts of 100", "Streams, an event and loop"),
    ("memory, with subscribers", "Memory, with subscribers"),
  ]
  /// In light and in dark.
  private static let colours: [Peer: (String, String)] = [
    .hub: ("#1f62cc", "#6aa5ff"), .loop: ("#6e6e73", "#b8b8bd"), .center: ("#0b7f92", "#4cc4d6"),
    .stream: ("#8a4fbf", "#c193f2"), .tasks: ("#c45f00", "#f29a45"),
    .queues: ("#1d8a52", "#57c98a"),
  ]
  private static let (width, height) = (232.0, 220.0)

  /// The picture as an SVG file.
  let text: String

  init(of results: [Result], isDark: Bool) {
    func shade(_ pair: (String, String)) -> String { isDark ? pair.1 : pair.0 }
    let (ink, quiet) = (shade(("#1d1d1f", "#f5f5f7")), shade(("#6e6e73", "#a1a1a6")))
    let faint = shade(("#d2d2d7", "#424245"))
    var parts: [String] = []

    func write(
      _ text: String, _ x: Double, _ y: Double, _ colour: String, anchor: String = "start",
      size: Int = 12
    ) {
      parts.append(
        "<text x=\"\(Self.short(x))\" y=\"\(Self.short(y))\" fill=\"\(colour)\" font-size=\"\(size)\" "
          + "text-anchor=\"\(anchor)\">\(text)</text>")
    }
    func line(_ points: [(Double, Double)], _ colour: String, _ stroke: Double) {
      if points.isEmpty { return }
      let places = points.map { "\(Self.short($0.0)),\(Self.short($0.1))" }.joined(separator: " ")
      parts.append(
        "<polyline points=\"\(places)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"\(stroke)\"/>"
      )
    }

    for (index, (row, title)) in Self.rows.enumerated() {
      let found = results.filter { $0.row == row }.sorted { $0.size < $1.size }
      guard let first = found.first, found.count > 1 else { continue }
      let left = Double(index) * Self.width
      let values = found.flatMap(\.figures.values).map(log10)
      guard let low = values.min()?.rounded(.down), let high = values.max()?.rounded(.up) else {
        continue
      }
      let sizes = found.map { log10(Double($0.size)) }
      func x(_ size: Double) -> Double {
        left + 52 + (Self.width - 76) * (size - sizes[0]) / (sizes.last! - sizes[0])
      }
      func y(_ value: Double) -> Double {
        Self.height - 34 - (Self.height - 80) * (log10(value) - low) / max(0.1, high - low)
      }
      write(title, left + 8, 18, ink, size: 13)
      for power in Int(low)...Int(high) {
        let value = pow(10, Double(power))
        line([(x(sizes[0]), y(value)), (x(sizes.last!), y(value))], faint, 1)
        write(
          Table.text(value, first.unit), left + 46, y(value) + 4, quiet, anchor: "end", size: 11)
      }
      for result in found {
        write(
          "\(result.size)", x(log10(Double(result.size))), Self.height - 12, quiet,
          anchor: "middle", size: 11)
      }
      for peer in Peer.allCases.reversed() {
        let points = found.compactMap { result in
          result.figures[peer].map { (x(log10(Double(result.size))), y($0)) }
        }
        if let colour = Self.colours[peer] { line(points, shade(colour), peer == .hub ? 3 : 1.5) }
      }
    }
    var left = 8.0
    for peer in Peer.allCases {
      line([(left, 38), (left + 18, 38)], shade(Self.colours[peer]!), peer == .hub ? 3 : 1.5)
      write(peer.rawValue, left + 24, 42, quiet)
      left += 44 + 7 * Double(peer.rawValue.count)
    }
    let size = "width=\"\(Int(4 * Self.width))\" height=\"\(Int(Self.height))\""
    let font = "-apple-system, 'Helvetica Neue', Helvetica, Arial, sans-serif"
    text = """
      <svg xmlns="http://www.w3.org/2000/svg" \(size) role="img" aria-label="What the hub costs beside what \
      people use in its place" font-family="\(font)">
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }

  private static func short(_ number: Double) -> String { String(format: "%.1f", number) }
}

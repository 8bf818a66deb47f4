import Foundation

/// A table on a page: a line for each row, with the sizes side by side.
struct Sheet {
  static let file = "Benchmarks/README.md"
  static let front = "README.md"
  static let pictures = "Sources/Delegation/Delegation.docc/Resources"
  /// The rows of `README.md`, which has one size.
  static let frontRows = [
    "call now", "tell, in bursts of 100", "tell, and wait", "ask, nobody awaits", "ask, awaiting",
    "streams, in bursts of 100", "streams, one at a time", "subscribe, and cancel",
    "memory, with subscribers",
  ]

  /// Its lines, the heading first.
  let lines: [String]

  init(of results: [Result], without left: Set<Peer> = []) {
    let peers = Peer.allCases.filter { peer in
      peer != .hub && !left.contains(peer) && results.contains { $0.ratios[peer] != nil }
    }
    var rows: [String] = []
    for result in results where rows.last != result.row { rows.append(result.row) }
    let sizes = Set(results.filter { $0.unit != .callers }.map(\.size)).sorted()
    let names =
      ["what, among \(sizes.map(String.init).joined(separator: "/"))", "the hub"]
      + peers.map(\.rawValue)
    let body = rows.map { row in
      let found = results.filter { $0.row == row }.sorted { $0.size < $1.size }
      let hub = found.map { Table.text($0.figures[.hub] ?? .nan, $0.unit) }
      let cells = peers.map { peer in
        found.compactMap { $0.ratios[peer] }.map(Table.digits).joined(separator: "/")
      }
      // Those that have sizes of their own say so.
      let own = found.first?.unit == .callers ? found.map { "\($0.size)" } : []
      let name = own.isEmpty ? row : "\(row), among \(own.joined(separator: "/"))"
      return ([name, hub.joined(separator: ", ")] + cells).joined(separator: " | ")
    }
    let rules = ["---"] + Array(repeating: "---:", count: names.count - 1)
    lines = ([names.joined(separator: " | "), rules.joined(separator: " | ")] + body)
      .map { "| " + $0 + " |" }
  }

  /// A page with this one in place of the one that it has, which its heading tells.
  func replacing(in page: String) -> String {
    let all = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let first = all.firstIndex(where: { $0.hasPrefix("| what, among ") }) else { return page }
    let rest = all[first...].drop { $0.hasPrefix("|") }
    return (all[..<first] + lines + rest).joined(separator: "\n")
  }
}

/// The figures that were recorded: `--record` writes them, `--check` reads them, and the tables show them.
struct Record {
  static let file = "Benchmarks/figures.json"
  /// By how much the hub's calls may have become dearer, beside those of the others.
  ///
  /// Halfway between 1 and 2: an unchanged call is off by a quarter at most, also beside a build.
  static let tolerance = 2.0.squareRoot()

  private(set) var results: [Result]

  /// Those of one run, with the costs of another one, on one core.
  init(_ results: [Result], costs: Record? = nil) {
    self.results = results
    for (index, other) in (costs?.results ?? []).enumerated() {
      self.results[index].costs = other.costs
    }
  }

  init(text: String? = nil) throws {
    let data = try text.map { Data($0.utf8) } ?? Data(contentsOf: URL(filePath: Self.file))
    results = try JSONDecoder().decode([Result].self, from: data)
  }

  /// A line for each result.
  var text: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      let lines = try results.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
      return "[\n" + lines.joined(separator: ",\n") + "\n]\n"
    }
  }

  /// Writes them, and what shows them.
  func write() throws {
    func write(_ text: String, _ path: String) throws {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    try write(text, Self.file)
    let front = Sheet.frontRows.flatMap { name in
      results.filter { $0.row == name && $0.size == 10 }
    }
    for (path, sheet) in [
      (Sheet.file, Sheet(of: results)), (Sheet.front, Sheet(of: front, without: [.queues])),
    ] {
      let page = try String(contentsOfFile: path, encoding: .utf8)
      try write(sheet.replacing(in: page), path)
    }
    for (name, isDark) in [("costs.svg", false), ("costs~dark.svg", true)] {
      try write(Picture(of: results, isDark: isDark).text, "\(Sheet.pictures)/\(name)")
    }
  }

  /// How many times as dear the hub has become in a row, beside the mean of the others; by itself a size varies too much.
  func growth(of row: [Result]) -> Double {
    let changes = row.flatMap { result in
      let former = results.first { $0.row == result.row && $0.size == result.size }
      return result.costs.compactMap { peer, now in
        former?.costs[peer].flatMap { peer == .hub ? nil : log($0 / now) }
      }
    }
    // What is not there cannot be compared.
    return changes.isEmpty ? .infinity : exp(changes.reduce(0, +) / Double(changes.count))
  }
}

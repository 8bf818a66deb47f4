import Foundation

/// A table on a page: a line for each row, with the sizes side by side.
struct Sheet {
  static let file = "Benchmarks/README.md"
  static let front = "README.md"
  static let pictures = "Sources/Delegation/Delegation.docc/Resources"
  /// The rows of `README.md`, which has one size.
  static let frontRows = [
    "call now", "tell, in bursts of 100", "tell, and wait", "ask, nobody awaits", "ask, awaiting",
    "streams, in bursts of 100", "streams, one at a time", "subscribe, and cancel, among",
    "memory, with subscribers",
  ]

  /// Its lines, the heading first.
  let lines: [String]

  init(of results: [Result]) {
    let peers = Peer.allCases.filter { peer in
      peer != .hub && results.contains { $0.ratios[peer] != nil }
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
        let ratios = found.compactMap { $0.ratios[peer] }.map(Table.digits)
        return ratios.isEmpty ? "" : ratios.joined(separator: "/") + " x"
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

  /// Finds it in a page, by its heading.
  init?(in page: String) {
    let all = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let first = all.firstIndex(where: { $0.hasPrefix("| what, among ") }) else { return nil }
    lines = Array(all[first...].prefix { $0.hasPrefix("|") })
  }

  /// The page with this one in place of the one that it has.
  func replacing(in page: String) -> String? {
    guard let former = Sheet(in: page) else { return nil }
    let (old, new) = (former.lines.joined(separator: "\n"), lines.joined(separator: "\n"))
    return page.firstRange(of: old).map { page.replacingCharacters(in: $0, with: new) }
  }
}

/// The figures that were recorded: `--record` writes them, `--check` reads them, and the tables show them.
struct Record {
  static let file = "Benchmarks/figures.json"
  /// By how much the hub's calls may have become dearer, beside those of its peers.
  ///
  /// Halfway between 1 and 2: an unchanged call is off by a quarter at most, also beside a build.
  static let tolerance = 2.0.squareRoot()

  let results: [Result]

  init(_ results: [Result]) { self.results = results }

  init() throws {
    let data = try Data(contentsOf: URL(filePath: Self.file))
    results = try JSONDecoder().decode([Result].self, from: data)
  }

  /// Writes them, and what shows them.
  func write() throws {
    func write(_ text: String, _ path: String) throws {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let lines = try results.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
    try write("[\n" + lines.joined(separator: ",\n") + "\n]\n", Self.file)
    let front = Sheet.frontRows.flatMap { name in
      results.filter { $0.row == name && $0.size == 10 }.map { $0.without([.queues]) }
    }
    for (path, sheet) in [(Sheet.file, Sheet(of: results)), (Sheet.front, Sheet(of: front))] {
      let page = try String(contentsOfFile: path, encoding: .utf8)
      try write(sheet.replacing(in: page) ?? page, path)
    }
    for (name, isDark) in [("costs.svg", false), ("costs~dark.svg", true)] {
      try write(Picture(of: results, isDark: isDark).text, "\(Sheet.pictures)/\(name)")
    }
  }

  /// Says that the hub has become dearer, if it has, beside the mean of its peers.
  ///
  /// By the processor's time: what else the machine does changes how long something takes, for some more than for others.
  func miss(of result: Result) -> String? {
    let name = "\(result.row), among \(result.size)"
    guard let former = results.first(where: { $0.row == result.row && $0.size == result.size })
    else { return "\(name): that is not in \(Self.file)" }
    let changes = result.costs.compactMap { peer, now in
      former.costs[peer].flatMap { peer == .hub ? nil : log($0 / now) }
    }
    let growth = exp(changes.reduce(0, +) / Double(changes.count))
    if let path = ProcessInfo.processInfo.environment["GROWTHS"], let file = fopen(path, "a") {
      fputs("\(growth)\t\(name)\t\(result.costs.mapValues { Table.digits($0) })\n", file)
      fclose(file)
    }
    if result.unit == .callers || growth < Self.tolerance { return nil }
    return "\(name): the hub takes \(Table.ratio(growth)) the processor time that \(Self.file) says"
  }
}

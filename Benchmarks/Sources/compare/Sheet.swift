import Foundation

/// The figures as they stand in `Benchmarks/README.md`: a line for each row, with the sizes side by side.
///
/// They are stored there alone: `--record` writes them, `--check` reads them.
struct Sheet {
  private static let peers = Peer.allCases.filter { $0 != .hub }
  static let file = "Benchmarks/README.md"
  static let pictures = "Sources/Delegation/Delegation.docc/Resources"

  /// Its lines, the heading first.
  let lines: [String]

  init(of results: [Result]) {
    var rows: [String] = []
    for result in results where rows.last != result.row { rows.append(result.row) }
    let sizes = Set(results.map(\.size)).sorted().map(String.init).joined(separator: "/")
    let names = ["what, among \(sizes)", "the hub"] + Self.peers.map(\.rawValue)
    let body = rows.map { row in
      let found = results.filter { $0.row == row }.sorted { $0.size < $1.size }
      let hub = found.map { Table.text($0.figures[.hub] ?? .nan, $0.unit) }
      let cells = Self.peers.map { peer in
        let ratios = found.compactMap { $0.ratios[peer] }.map(Table.digits)
        return ratios.isEmpty ? "" : ratios.joined(separator: "/") + " x"
      }
      return ([row, hub.joined(separator: ", ")] + cells).joined(separator: " | ")
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
    guard let place = page.firstRange(of: old) else { return nil }
    return page.replacingCharacters(in: place, with: new)
  }

  /// Where a peer took less than half as many times as long as the sheet says, in words.
  ///
  /// Ratios differ by a tenth from run to run on a quiet machine, by far more on a busy one.
  func misses(of result: Result) -> [String] {
    guard let line = lines.first(where: { $0.hasPrefix("| \(result.row) |") }),
      let heading = lines.first?.split(separator: "|").first
    else { return ["\(result.row) is not in the table"] }
    let sizes = heading.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
    let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    guard let index = sizes.firstIndex(of: result.size), cells.count > Self.peers.count + 2 else {
      return []
    }
    return zip(Self.peers, cells.dropFirst(3)).compactMap { peer, cell in
      let ratios = cell.split(whereSeparator: { " /x".contains($0) }).compactMap { Double($0) }
      guard index < ratios.count, let now = result.ratios[peer], now < ratios[index] / 2 else {
        return nil
      }
      return
        "\(result.row), among \(result.size): \(peer.rawValue) took \(Table.ratio(now)) as long, "
        + "\(Self.file) says \(Table.ratio(ratios[index]))"
    }
  }
}

import ArgumentParser
import Foundation

/// Measures the hub beside what people use in its place.
@main
struct Compare: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures the hub beside what people use in its place.",
    discussion: """
      All contestants of a row run in turns in one process; ratios are taken within a round and \
      their median is shown, for a busy machine slows down all of a round alike. 3.1 x means that \
      it takes 3.1 times as long as the hub, or as many bytes.
      """)

  @Option(help: "Only the rows whose names contain this.")
  var only = ""

  @Flag(help: "More sizes and rounds, for maintainers; several minutes.")
  var all = false

  @Flag(help: "Writes the table into Benchmarks/README.md, and README's pictures.")
  var record = false

  @Flag(help: "Ends with 1 if the hub is twice as slow beside a peer as that table says.")
  var check = false

  func validate() throws {
    if rows.isEmpty {
      let names = Row.all.map { "\"\($0.name)\"" }.joined(separator: ", ")
      throw ValidationError("--only has to be a part of one of: \(names).")
    }
    if record, all || !only.isEmpty {
      throw ValidationError(
        "--record needs all rows and their usual sizes, without --only and --all.")
    }
  }

  private var rows: [Row] { Row.all.filter { only.isEmpty || $0.name.contains(only) } }

  func run() async throws {
    let plan = all ? Plan(sizes: [1, 2, 3, 10, 100, 1_000], rounds: 15, turn: 4e7) : Plan()
    let page = record || check ? try Self.page() : ""
    let sheet = Sheet(in: page)
    let table = Table()
    let start = ContinuousClock.now
    table.begin()
    var (results, misses) = ([Result](), [String]())
    for row in rows {
      for size in row.sizes ?? plan.sizes {
        var result = await row.measure(among: size, plan)
        // What is slower by chance is not so each time.
        for _ in 0..<2 where check && sheet?.misses(of: result).isEmpty == false {
          result = await row.measure(among: size, plan)
        }
        table.show(result)
        results.append(result)
        if check { misses += sheet?.misses(of: result) ?? [] }
      }
    }
    table.end(after: ContinuousClock.now - start)
    if record { try Self.write(results, into: page) }
    for miss in misses { print(miss) }
    if !misses.isEmpty { throw ExitCode.failure }
  }

  private static func page() throws -> String {
    guard let page = try? String(contentsOfFile: Sheet.file, encoding: .utf8),
      Sheet(in: page) != nil
    else {
      throw ValidationError(
        "There is no \(Sheet.file) with a table here: start it from the repository's root.")
    }
    return page
  }

  private static func write(_ results: [Result], into page: String) throws {
    func write(_ text: String, _ path: String) throws {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    try write(Sheet(of: results).replacing(in: page) ?? page, Sheet.file)
    for (name, isDark) in [("costs.svg", false), ("costs~dark.svg", true)] {
      try write(Picture(of: results, isDark: isDark).text, "\(Sheet.pictures)/\(name)")
    }
    print("Written: \(Sheet.file), \(Sheet.pictures)/costs.svg and costs~dark.svg")
  }
}

/// How much is measured.
struct Plan: Sendable {
  var sizes = [1, 10, 100]
  var rounds = 9
  /// How long one contestant goes on in a round, in nanoseconds.
  var turn = 1.5e7
}

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
      it takes 3.1 times as long as the hub, or as many bytes. In the rows of two callers each \
      figure is how many times the work of one caller two do at once.
      """)

  @Option(help: "Only the rows whose names contain this.")
  var only = ""

  @Flag(help: "More sizes and rounds, for maintainers; several minutes.")
  var all = false

  @Flag(help: "Writes the figures, the tables of both READMEs, and the pictures.")
  var record = false

  @Flag(help: "Ends with 1 if a call of the hub has become twice as dear since that was written.")
  var check = false

  @Option(help: .hidden)
  var memory: Peer?
  @Option(help: .hidden)
  var among = 1

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
    if let memory { return print(Memory.bytes(memory, among: among)) }
    let plan = all ? Plan(sizes: [1, 2, 3, 10, 100, 1_000], rounds: 15, turn: 4e7) : Plan()
    if record || check, !FileManager.default.fileExists(atPath: Sheet.file) {
      throw ValidationError("There is no \(Sheet.file) here: start it from the repository's root.")
    }
    let former = check ? try Record() : nil
    let table = Table()
    let start = ContinuousClock.now
    table.begin()
    var (all, misses) = ([Result](), [String]())
    for row in rows {
      for size in row.sizes ?? plan.sizes {
        var result = await row.measure(among: size, plan)
        // What is dearer by chance is not so each time.
        for _ in 0..<2 where former?.miss(of: result) != nil {
          result = await row.measure(among: size, plan)
        }
        table.show(result)
        all.append(result)
        if let miss = former?.miss(of: result) { misses.append(miss) }
      }
    }
    table.end(after: ContinuousClock.now - start)
    if record { try Record(all).write() }
    for miss in misses { print(miss) }
    if !misses.isEmpty { throw ExitCode.failure }
  }
}

/// How much is measured.
struct Plan: Sendable {
  var sizes = [1, 10, 100]
  var rounds = 9
  /// How long one contestant goes on in a round, in nanoseconds.
  var turn = 1.5e7
}

extension Peer: ExpressibleByArgument {}

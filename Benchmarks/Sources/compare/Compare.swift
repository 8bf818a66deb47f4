import ArgumentParser
import CMeasures
import Foundation

/// Measures the hub beside what people use in its place.
@main
struct Compare: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures the hub beside what people use in its place.",
    discussion: """
      All contestants of a row run in turns in one process; ratios are taken within a round and \
      their median is shown, for a busy machine slows down all of a round alike. 3.1 x means that \
      it takes 3.1 times as long as the hub, or as many bytes; of two callers, how many times the \
      work of one they do.
      """)

  @Option(help: "Only the rows whose names contain this.")
  var only = ""

  @Flag(help: "Writes the figures, the tables of both READMEs, and the pictures.")
  var record = false

  @Flag(help: "Ends with 1 if a call of the hub has become twice as dear since that was written.")
  var check = false

  /// What this program asks of processes of its own.
  @Option(help: .hidden)
  var memory: Peer?
  @Option(help: .hidden)
  var among = 1
  @Flag(help: .hidden)
  var costs = false

  func validate() throws {
    if rows.isEmpty {
      let names = Row.all.map { "\"\($0.name)\"" }.joined(separator: ", ")
      throw ValidationError("--only has to be a part of one of: \(names).")
    }
    if record, check || !only.isEmpty { throw ValidationError("--record needs all rows.") }
    let file = check ? Record.file : Sheet.file
    if record || check, !FileManager.default.fileExists(atPath: file) {
      throw ValidationError(
        "There is no \(file) here: it is made by --record, in the repository's root.")
    }
    // How much two cores get in each other's way depends on what else they do: one and the same call differs by twice.
    // Here, because no other thread has begun.
    if check || costs { use_one_core() }
  }

  private var rows: [Row] { Row.all.filter { only.isEmpty || $0.name.contains(only) } }

  func run() async throws {
    if let memory { return print(Memory.bytes(memory, among: among)) }
    if check { return try await compareCosts(with: Record()) }
    let (table, plan, start) = (Table(), Plan(), ContinuousClock.now)
    if !costs { table.begin() }
    var results: [Result] = []
    for row in rows {
      for size in row.sizes ?? plan.sizes {
        results.append(await row.measure(among: size, plan))
        if !costs { table.show(results[results.count - 1]) }
      }
    }
    if costs { return print(try Record(results).text) }
    table.end(after: ContinuousClock.now - start)
    if record {
      print("Now what it costs the processor, which --check compares.")
      try Record(results, costs: Record(text: Child.run(["--costs"]))).write()
      print("Written: \(Record.file), \(Sheet.file), \(Sheet.front) and the pictures.")
    }
  }

  /// Ends with 1 if something has become dearer.
  private func compareCosts(with record: Record) async throws {
    var misses: [String] = []
    for row in rows where row.isWhole {
      var growth = Double.infinity
      // What is dearer by chance is not so each time.
      for _ in 0..<3 where growth > Record.tolerance {
        var results: [Result] = []
        for size in Plan().sizes { results.append(await row.measure(among: size, Plan())) }
        growth = min(growth, record.growth(of: results))
      }
      let line = "\(Table.left(row.name, 31))  \(Table.ratio(growth))"
      Table.say(line)
      if growth > Record.tolerance { misses.append(line) }
    }
    if misses.isEmpty { return }
    print("Dearer than in \(Record.file), beside the others:")
    for miss in misses { print(miss) }
    throw ExitCode.failure
  }
}

extension Peer: ExpressibleByArgument {}

/// How much is measured.
struct Plan: Sendable {
  var sizes = [1, 10, 100]
  var rounds = 9
  /// How long one contestant goes on in a round, in nanoseconds.
  var turn = 1.5e7
}

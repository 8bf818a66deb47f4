import Foundation

/// Prints one table of the hub's ratios against what else one could pick.
@main
struct Compare {
  static func main() async {
    do {
      let arguments = try Arguments(CommandLine.arguments.dropFirst())
      if arguments.wantsHelp {
        print(Arguments.usage)
      } else {
        exit(await compare(arguments))
      }
    } catch {
      say("compare: \(error.message)\n\(Arguments.usage)\n")
      exit(64)
    }
  }

  /// Measures what is asked for, prints it, and says how it ended.
  ///
  /// `@concurrent`: see ``Contest/run(_:)``.
  ///
  /// - Parameter arguments: what is asked for.
  /// - Returns: the program's exit status.
  @concurrent
  private static func compare(_ arguments: Arguments) async -> Int32 {
    let rows = Suite.rows(named: arguments.only)
    guard !rows.isEmpty else {
      say("compare: no row's name contains \(arguments.only ?? "")\n")
      return 64
    }
    let before = load()
    let start = now()
    let gate = Gate(noise: arguments.noise, shortfalls: knownShortfalls)
    var table = Table()
    for (index, row) in rows.enumerated() {
      progress("\(index + 1) of \(rows.count): \(row.id)")
      table.append(
        await row.measure(arguments.plan, judgedBy: gate, again: arguments.again))
    }
    progress("")
    print(table.text(judgedBy: gate))
    print(
      summary(arguments.plan, loadBefore: before, seconds: Int((now() - start) / 1_000_000_000)))
    if let path = arguments.record, !write(table.lines, arguments.plan, load: before, to: path) {
      return 73
    }
    return conclude(table.lines, gate, arguments)
  }

  /// Writes the figures to a file.
  ///
  /// - Returns: whether that succeeded; what went wrong is said on standard error.
  private static func write(
    _ lines: [Line], _ plan: Plan, load: Double, to path: String
  ) -> Bool {
    let process = ProcessInfo.processInfo
    let conditions = Record.Conditions(
      system: process.operatingSystemVersionString, cores: process.activeProcessorCount,
      load: (load * 100).rounded() / 100, rounds: plan.rounds)
    do {
      let text = try Record(conditions: conditions, lines: lines).text()
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      return true
    } catch {
      say("compare: \(path) cannot be written: \(error)\n")
      return false
    }
  }

  /// Says under which conditions the table came about.
  private static func summary(_ plan: Plan, loadBefore load: Double, seconds: Int) -> String {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let quiet = load <= 0.5 * Double(cores)
    return "\nMedians of \(plan.rounds) interleaved rounds; in the middle half lie half of them. "
      + "\(seconds) s on \(cores) cores, load average \(String(format: "%.2f", load)) before."
      + (quiet ? "" : "\nThe machine was not quiet: measure again.")
  }

  /// Says what came of the targets, and with which exit status that ends.
  private static func conclude(_ lines: [Line], _ gate: Gate, _ arguments: Arguments) -> Int32 {
    let verdicts = lines.compactMap(gate.verdict)
    func count(_ verdict: Gate.Verdict) -> Int { verdicts.count { $0 == verdict } }
    print(
      "\(count(.reached)) of \(verdicts.count) targets reached, \(count(.narrow)) missed within "
        + "noise, \(count(.known)) as is known, \(count(.missed)) by more, "
        + "\(count(.worse)) worse than known.")
    for line in lines where gate.verdict(on: line)?.fails ?? false {
      print("Failed: \(line.cells.filter { !$0.isEmpty }.joined(separator: ", "))")
    }
    for shortfall in gate.overcome(in: lines) {
      print("A known shortfall is none any more: \(shortfall)")
    }
    let baseless = arguments.wantsAll ? gate.baseless(in: lines) : []
    for shortfall in baseless { print("A known shortfall is about no target: \(shortfall)") }
    let misses = verdicts.contains { $0.fails || $0 == .known && !arguments.acceptsKnown }
    let fails = misses || !baseless.isEmpty
    return arguments.gates && fails ? 1 : 0
  }

  /// The load average of the last minute.
  private static func load() -> Double {
    var load = 0.0
    return getloadavg(&load, 1) == 1 ? load : 0
  }

  /// Overwrites one line of the terminal, if there is one.
  private static func progress(_ text: String) {
    if isatty(STDERR_FILENO) == 1 { say("\r\u{1B}[K\(text)") }
  }

  /// Writes to standard error.
  private static func say(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}

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
    var table = Table()
    for (index, row) in rows.enumerated() {
      progress("\(index + 1) of \(rows.count): \(row.id)")
      let contest = await row.contest(arguments.plan)
      table.append(await contest.run(arguments.plan))
    }
    progress("")
    print(table.description)
    print(summary(arguments.plan, loadBefore: before))
    return gate(table, arguments)
  }

  /// Says under which conditions the table came about.
  private static func summary(_ plan: Plan, loadBefore load: Double) -> String {
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let quiet = load <= 0.5 * Double(cores)
    return "\nMedians of \(plan.rounds) interleaved rounds; in the middle half lie half of them. "
      + "\(cores) cores, load average \(String(format: "%.2f", load)) before."
      + (quiet ? "" : "\nThe machine was not quiet: measure again.")
  }

  /// Holds the table against its targets.
  private static func gate(_ table: Table, _ arguments: Arguments) -> Int32 {
    let missed = table.lines.filter { ($0.excess ?? 0) > 1 }
    let failed = missed.filter { ($0.excess ?? 0) > 1 + arguments.noise }
    let targets = table.lines.count { $0.excess != nil }
    let percent = Int((arguments.noise * 100).rounded())
    print(
      "\(targets - missed.count) of \(targets) targets reached, "
        + "\(failed.count) missed by more than \(percent) %.")
    return arguments.gates && !failed.isEmpty ? 1 : 0
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

import Foundation

/// Shows for each row of `Tests/Defects.md` whether the library has the defect.
///
///     defects          all rows
///     defects H3 L8    these
///
/// Each row runs in a process of its own, since some of the defects stop the program, or never end. It
/// prints one line a row, which begins with the row and `ok`, `DEFECT` or `limit`, which is one that the
/// documentation names; and it fails if there is a defect.
@main
struct Defects {
  static func main() async {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--here", let row = Row.all.first(where: { $0.name == arguments.last }) {
      let finding = await row.look()
      print("\(row.name): \(finding.verdict.rawValue): \(finding.text)")
      exit(finding.verdict == .defect ? 1 : 0)
    }
    let unknown = arguments.filter { name in !Row.all.contains { $0.name == name } }
    if !unknown.isEmpty {
      print("no such row: \(unknown.joined(separator: ", "))")
      print("there are \(Row.all.map(\.name).joined(separator: ", "))")
      exit(64)
    }
    var defects = 0
    for row in Row.all where arguments.isEmpty || arguments.contains(row.name) {
      if !lookInProcess(at: row) { defects += 1 }
    }
    exit(defects == 0 ? 0 : 1)
  }

  /// Runs a row in a process of its own; returns whether there is no defect.
  private static func lookInProcess(at row: Row) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["--here", row.name]
    // A program that is stopped by a defect ends at once, and without a word.
    let own = ProcessInfo.processInfo.environment
    process.environment = own.merging(["SWIFT_BACKTRACE": "enable=no"]) { _, new in new }
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      print("\(row.name): not run: \(error)")
      return false
    }
    let patience = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 120, execute: patience)
    process.waitUntilExit()
    patience.cancel()
    if process.terminationReason == .uncaughtSignal {
      print("\(row.name): DEFECT: the program was stopped by signal \(process.terminationStatus)")
      return false
    }
    return process.terminationStatus == 0
  }
}

/// One row: its name, and the program that looks for the defect.
struct Row: Sendable {
  let name: String
  let look: @Sendable () async -> Finding

  init(_ name: String, _ look: @escaping @Sendable () async -> Finding) {
    self.name = name
    self.look = look
  }
}

/// What a row's program has found.
struct Finding: Sendable {
  enum Verdict: String {
    case ok
    case defect = "DEFECT"
    /// It is so, and the documentation says so.
    case limit
  }

  let verdict: Verdict
  let text: String

  /// Says in words what was found.
  ///
  /// - Parameters:
  ///   - isDefect: whether that is the defect.
  ///   - text: what was found.
  init(defect isDefect: Bool, _ text: String) {
    verdict = isDefect ? .defect : .ok
    self.text = text
  }

  /// Says in words what is a limit of what the library promises.
  ///
  /// - Parameter text: what was found.
  init(limit text: String) {
    verdict = .limit
    self.text = text
  }
}

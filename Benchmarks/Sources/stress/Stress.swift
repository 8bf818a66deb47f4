import ArgumentParser

/// Puts a hub under everything at once, and holds its accounts against its own.
@main
struct Stress: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Puts a hub under everything at once, and checks that nothing is lost.",
    discussion: """
      All calls, all kinds of subscribers and all endings, at once, from many tasks and threads. \
      Handlers return at once, yield, sleep, throw, and call the hub. What each does depends on the \
      seed, when it does it on the machine. Ends with 1 if an account does not add up or a promise \
      is broken.
      """)

  @Option(help: "How long it goes on; 20 if neither this nor --events is given.")
  var seconds: Double?

  @Option(help: "How many events are posted, questions asked and seats taken, at most.")
  var events: Int?

  @Option(help: "What everybody's behaviour is drawn from.")
  var seed: UInt64 = 1

  @Option(help: "How many tasks each part has.")
  var tasks = 8

  @Option(help: "How many threads post and subscribe besides.")
  var threads = 2

  @Option(help: "Only the parts with this in their names; they are in the report.")
  var only = ""

  func validate() throws {
    func check(_ isValid: Bool, _ message: String) throws {
      if !isValid { throw ValidationError(message) }
    }
    try check(seconds ?? 1 > 0, "--seconds has to be more than 0.")
    try check(events ?? 1 > 0, "--events has to be more than 0.")
    try check((1...1000).contains(tasks), "--tasks has to be from 1 to 1000.")
    try check((0...100).contains(threads), "--threads has to be from 0 to 100.")
    try check(
      only.isEmpty || Run.names.contains { $0.contains(only) },
      "--only has to be a part of one of: \(Run.names.joined(separator: ", ")).")
  }

  func run() async throws {
    let duration = seconds ?? (events == nil ? 20 : nil)
    let run = Run(
      seed: seed, tasks: tasks, threads: threads, duration: duration.map { .seconds($0) },
      events: events, only: only)
    let report = await run.conduct()
    print(report.text)
    if !report.problems.isEmpty { throw ExitCode.failure }
  }
}

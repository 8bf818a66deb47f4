import ArgumentParser
import Foundation

/// Puts a hub under everything at once, and holds its accounts against its own.
@main
struct Stress: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Puts a hub under everything at once, and checks that nothing is lost.",
    discussion: """
      Producers post, vote, and bring visitors and send them away; subscribers die, veto, throw, \
      sleep, and call the hub from their handlers. What each does depends on the seed, when it \
      does it on the machine. Ends with 1 if an account does not add up or a promise is broken.
      """)

  @Option(help: "How long producers go on; 60 if neither this nor --events is given.")
  var seconds: Double?

  @Option(help: "How many events producers post together, at most.")
  var events: Int?

  @Option(help: "What everybody's behaviour is drawn from.")
  var seed: UInt64 = 1

  @Option(help: "How many tasks produce.")
  var producers = 8

  @Option(help: "How many notifications the slowest who handles all may be behind.")
  var window = 256

  @Option(help: "How many seconds there are between lines of progress; 0 for none.")
  var progress = 5.0

  func validate() throws {
    func check(_ isValid: Bool, _ message: String) throws {
      if !isValid { throw ValidationError(message) }
    }
    try check(seconds ?? 1 > 0, "--seconds has to be more than 0.")
    try check(events ?? 1 > 0, "--events has to be more than 0.")
    try check((1...1000).contains(producers), "--producers has to be from 1 to 1000.")
    try check(window > 0, "--window has to be more than 0.")
    try check(progress >= 0, "--progress must not be negative.")
  }

  func run() async throws {
    let duration = seconds ?? (events == nil ? 60 : nil)
    let run = Run(
      seed: seed, producers: producers,
      limits: Limits(duration: duration.map { .seconds($0) }, events: events, window: window),
      progress: progress == 0 ? nil : .seconds(progress))
    let report = await run.conduct()
    print(report.text)
    if !report.problems.isEmpty { throw ExitCode.failure }
  }
}

import ArgumentParser
import ChatLoadKit
import ChatServerKit

/// The same load on all engines.
struct CompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare", abstract: "The same load on every engine, in turns, as a table.")

  @Option(help: "How often each is measured.")
  var rounds = 3

  @Option(help: "How many seconds each time.")
  var seconds = 3

  @Option(help: "How many clients.")
  var clients = 500

  func validate() throws {
    for (name, value) in [("rounds", rounds), ("seconds", seconds), ("clients", clients / 20)]
    where value < 1 { throw ValidationError("--\(name) is too low.") }
  }

  func run() async throws {
    var isFaultless = true
    for scene in scenes {
      var runs: [EngineKind: [Run]] = [:]
      for _ in 0..<rounds {
        for engine in EngineKind.allCases.shuffled() {
          let run = try await Run(scene.plan, engine: engine.rawValue)
          for fault in run.result.faults.prefix(3) { print("\(engine.rawValue): \(fault)") }
          if !run.result.faults.isEmpty { isFaultless = false }
          runs[engine, default: []].append(run)
        }
      }
      print("\n\(scene.title)\n")
      print("| engine | heard a second | p50 | p99 | p99.9 | processor | peak memory |")
      print("| --- | --- | --- | --- | --- | --- | --- |")
      for engine in EngineKind.allCases {
        if let runs = runs[engine] { print(Summary(runs).row(engine.rawValue)) }
      }
    }
    print(
      isFaultless
        ? "\neverything heard, once and in order" : "\nsomething was not heard as it should")
    if !isFaultless { throw ExitCode.failure }
  }

  private var scenes: [(title: String, plan: LoadPlan)] {
    var plan = LoadPlan()
    plan.clients = clients
    plan.duration = .seconds(seconds)
    var one = plan
    one.rooms = 1
    one.rate = 50
    var many = plan
    many.rooms = 20
    many.rate = 500
    var most = plan
    most.rooms = 4
    most.rate = 0
    return [
      ("1 room of \(clients), \(one.rate) messages a second", one),
      ("20 rooms of \(clients / 20), \(many.rate) messages a second", many),
      (
        "4 rooms of \(clients / 4), as many messages as go (\(most.senders) under way in each)",
        most
      ),
    ]
  }
}

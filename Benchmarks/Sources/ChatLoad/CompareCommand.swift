import ArgumentParser
import ChatLoadKit
import ChatServerKit

/// The same load on all engines, or on the hub with and without a page that shows it.
struct CompareCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "The same load on every engine, in turns, as a table of medians.")

  /// One of those that are measured in turns.
  private struct Contestant {
    let name: String
    let engine: EngineKind
    var page = Run.Page.none
  }

  @Flag(help: "Compare the hub without a page, with one, and with one that somebody looks at.")
  var page = false

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
      var runs = contestants.map { _ in [Run]() }
      for _ in 0..<rounds {
        for (index, contestant) in contestants.enumerated().shuffled() {
          let run = try await Run(
            scene.plan, engine: contestant.engine.rawValue, page: contestant.page)
          for fault in run.result.faults.prefix(3) { print("\(contestant.name): \(fault)") }
          if !run.result.faults.isEmpty { isFaultless = false }
          runs[index].append(run)
        }
      }
      print("\n\(scene.title)\n")
      let title = page ? "the hub" : "engine"
      print("| \(title) | heard a second | p50 | p99 | p99.9 | processor | peak memory |")
      print("| --- | --- | --- | --- | --- | --- | --- |")
      for (contestant, runs) in zip(contestants, runs) {
        print(Summary(runs).row(contestant.name))
      }
      if page {
        let ratios = runs.dropFirst().map { Summary($0).processorRatio(to: Summary(runs[0])).shown }
        print(
          "\nprocessor time a message heard, beside no page: \(ratios[0]) x with a page, "
            + "\(ratios[1]) x with a page that is looked at (medians of rounds)")
      }
    }
    print(
      isFaultless
        ? "\neverything heard, once and in order" : "\nsomething was not heard as it should")
    if !isFaultless { throw ExitCode.failure }
  }

  private var contestants: [Contestant] {
    guard page else {
      return EngineKind.allCases.map { Contestant(name: $0.rawValue, engine: $0) }
    }
    return [
      Contestant(name: "without a page", engine: .hub),
      Contestant(name: "with a page, nobody looks", engine: .hub, page: .closed),
      Contestant(name: "with a page, somebody looks", engine: .hub, page: .open),
    ]
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

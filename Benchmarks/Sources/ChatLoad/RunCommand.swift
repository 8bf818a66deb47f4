import ArgumentParser
import ChatLoadKit
import ChatServerKit

/// One load on one server.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "One load on one server: on one that it starts, or on one that listens at a port.")

  @OptionGroup var load: LoadOptions

  @Option(help: "The engine of the server that it starts: hub, awaiting, actor or queues.")
  var engine = EngineKind.hub

  @Option(help: "The port of a server that runs already.")
  var port: Int?

  @Flag(
    help: "Add clients that read nothing, flood, stop, disconnect, and an extension that hangs.")
  var misbehave = false

  func run() async throws {
    var plan = load.plan
    plan.misbehaves = misbehave
    let result: LoadResult
    if let port {
      plan.port = port
      result = try await Load(plan).run()
    } else {
      let run = try await Run(plan, engine: engine.rawValue)
      result = run.result
      print(run.description)
    }
    print(result.description)
    if !result.faults.isEmpty { throw ExitCode.failure }
  }
}

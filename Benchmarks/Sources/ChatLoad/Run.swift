import ChatLoadKit
import Foundation

/// A load on a server of its own.
struct Run {
  let result: LoadResult
  let peakMemory: Int?
  let processorTime: Duration?
  let end: ServerProcess.End

  /// Starts a server, puts the load on it, and stops it.
  init(_ plan: LoadPlan, engine: String) async throws {
    let server = try await ServerProcess.start(
      URL(filePath: CommandLine.arguments[0]),
      ["serve", "--engine", engine, "--admin", "root:root"]
        + ["--flood-limit", plan.misbehaves ? "50" : "1000000", "--lines", "1000000"]
        + (plan.clients > 900 ? ["--connections", "\(plan.clients + 100)"] : [])
        + ["--drain-time", "1000", "--log-level", "error"])
    defer { server.kill() }
    var plan = plan
    plan.port = server.port
    plan.administrator = ("root", "root")
    let load = try await Load(plan)
    let before = server.processorTime
    result = try await load.run()
    processorTime = server.processorTime.flatMap { after in before.map { after - $0 } }
    peakMemory = server.peakMemory
    server.terminate()
    end = try await server.end()
  }

  var description: String {
    let memory = peakMemory.map { "\($0 / 1_048_576) MB" } ?? "unknown"
    return """
      server      status \(end.status), peak memory \(memory)
      server      \(end.output.split(separator: "\n").joined(separator: "\n            "))
      """
  }
}

import ChatLoadKit
import Foundation

/// A load on a server of its own.
struct Run {
  /// The page of the server's hubs.
  enum Page {
    case none
    /// Nobody looks at it.
    case closed
    case open
  }

  let result: LoadResult
  let peakMemory: Int?
  let processorTime: Duration?
  let end: ServerProcess.End

  /// Starts a server, puts the load on it, and stops it.
  init(_ plan: LoadPlan, engine: String, page: Page = .none) async throws {
    let pagePort = page == .none ? nil : try await PageViewer.freePort()
    let server = try await ServerProcess.start(
      URL(filePath: CommandLine.arguments[0]),
      ["serve", "--engine", engine]
        + ["--flood-limit", plan.misbehaves ? "50" : "1000000", "--lines", "1000000"]
        + (plan.clients > 900 ? ["--connections", "\(plan.clients + 100)"] : [])
        + ["--drain-time", "1000", "--log-level", "error"]
        + (pagePort.map { ["--page", "\($0)"] } ?? []),
      accounts: ["admin root root"])
    defer { server.kill() }
    var plan = plan
    plan.port = server.port
    plan.administrator = ("root", "root")
    let load = try await Load(plan)
    let before = server.processorTime
    if page == .open, let pagePort {
      let viewer = PageViewer()
      result = try await viewer.looking(at: pagePort) { try await load.run() }
      if viewer.received < 1000 { throw LoadError("the page has sent nothing") }
    } else {
      result = try await load.run()
    }
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

import ChatLoadKit
import Foundation

/// The built server.
enum Server {
  struct NotBuilt: Error {
    let lookedFor: [String]
  }

  /// Starts it for as long as the body takes, and no longer whatever happens.
  ///
  /// Extensions have so much time to answer, if the arguments do not say otherwise, that a busy machine
  /// does not run out of it.
  static func run<Value>(
    _ arguments: [String] = [], _ body: (ServerProcess) async throws -> Value
  ) async throws -> Value {
    let patience = arguments.contains("--deadline") ? [] : ["--deadline", "3600000"]
    let server = try await ServerProcess.start(
      executable(), arguments + patience + ["--log-level", "error"])
    defer { server.kill() }
    return try await body(server)
  }

  /// The program, which lies beside the tests' bundle or program.
  private static func executable() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles + [URL(filePath: CommandLine.arguments[0])]
    let candidates = tests.map { $0.deletingLastPathComponent().appending(path: "ChatServer") }
    guard
      let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
    else { throw NotBuilt(lookedFor: candidates.map(\.path)) }
    return found
  }
}

import ChatLoadKit
import Foundation

/// The built server.
enum Server {
  struct NotBuilt: Error {
    let lookedFor: [String]
  }

  /// Starts it for as long as the body takes, and no longer whatever happens.
  ///
  /// Extensions and clients have so much time, if the arguments do not say otherwise, that a busy machine
  /// does not run out of it.
  ///
  /// - Parameters:
  ///   - arguments: what to start it with.
  ///   - descriptors: how many descriptors it may have.
  ///   - body: uses it.
  /// - Returns: what the body returns.
  /// - Throws: what keeps the server from starting, or what the body throws.
  static func run<Value>(
    _ arguments: [String] = [], descriptors: Int? = nil,
    _ body: (ServerProcess) async throws -> Value
  ) async throws -> Value {
    var arguments = arguments + ["--log-level", "error"]
    for option in ["--deadline", "--write-timeout", "--drain-time", "--farewell-time"]
    where !arguments.contains(option) {
      arguments += [option, "3600000"]
    }
    var program = try executable()
    if let descriptors {
      arguments = ["-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\"", program.path] + arguments
      program = URL(filePath: "/bin/sh")
    }
    let server = try await ServerProcess.start(program, arguments)
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

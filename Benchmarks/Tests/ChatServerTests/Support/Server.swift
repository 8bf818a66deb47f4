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
  ///   - accounts: the lines of its file of accounts.
  ///   - descriptors: how many descriptors it may have.
  ///   - errors: a file for what it writes to standard error.
  ///   - body: uses it.
  /// - Returns: what the body returns.
  /// - Throws: what keeps the server from starting, or what the body throws.
  static func run<Value>(
    _ arguments: [String] = [], accounts: [String] = [], descriptors: Int? = nil,
    errors: URL? = nil, _ body: (ServerProcess) async throws -> Value
  ) async throws -> Value {
    var arguments = arguments
    if !arguments.contains("--log-level") { arguments += ["--log-level", "error"] }
    for option in [
      "--deadline", "--write-timeout", "--drain-time", "--farewell-time", "--login-time",
      "--idle-time", "--lines",
    ] where !arguments.contains(option) {
      arguments += [option, "3600000"]
    }
    if !arguments.contains("--refusal-time") { arguments += ["--refusal-time", "1"] }
    var program = try executable()
    if descriptors != nil || errors != nil {
      let limit = descriptors.map { "ulimit -n \($0); " } ?? ""
      let redirection = errors.map { " 2>'\($0.path)'" } ?? ""
      arguments = ["-c", "\(limit)exec \"$0\" \"$@\"\(redirection)", program.path] + arguments
      program = URL(filePath: "/bin/sh")
    }
    let server = try await ServerProcess.start(program, arguments, accounts: accounts)
    defer { server.kill() }
    return try await body(server)
  }

  /// Runs a server that does not come to listen.
  ///
  /// - Parameters:
  ///   - arguments: what to start it with.
  ///   - descriptors: how many descriptors it may have.
  /// - Returns: its exit status, and what it wrote, standard error included.
  /// - Throws: what keeps it from being started.
  static func fail(
    _ arguments: [String], descriptors: Int = 1024
  ) async throws -> (status: Int32, output: String) {
    let program = try executable()
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments =
              ["-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\" 2>&1", program.path] + arguments
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = output
            try process.run()
            let text = String(
              decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationReason == .exit ? process.terminationStatus : -1, text)
          })
      }
    }
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

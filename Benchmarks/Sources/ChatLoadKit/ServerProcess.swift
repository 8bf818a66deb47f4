package import Foundation
import Synchronization

/// A server that runs as a process of its own, and not for longer than this one.
package final class ServerProcess: Sendable {
  /// How a server ended.
  package struct End: Sendable {
    /// What it wrote to standard output after its port.
    package let output: String
    package let status: Int32
    /// Whether it ended by itself rather than by a signal that it did not handle.
    package let hasExited: Bool
  }

  package let port: Int
  private let process: Process
  private let input: Pipe
  private let output: Pipe
  private let lines: LineReader

  private init(process: Process, input: Pipe, output: Pipe, lines: LineReader, port: Int) {
    self.process = process
    self.input = input
    self.output = output
    self.lines = lines
    self.port = port
  }

  /// Starts a server on a free port and waits until it listens.
  ///
  /// - Parameters:
  ///   - executable: the program.
  ///   - arguments: what to start it with, but for its port.
  ///   - accounts: the lines of its file of accounts, which is there until it listens.
  /// - Returns: the server.
  /// - Throws: what keeps it from starting.
  package static func start(
    _ executable: URL, _ arguments: [String], accounts: [String] = []
  ) async throws -> ServerProcess {
    try await onThread {
      let file = try AccountList(accounts)
      defer { file.remove() }
      let process = Process()
      let input = Pipe()
      let output = Pipe()
      process.executableURL = executable
      process.arguments = arguments + file.arguments + ["--port", "0", "--stop-with-input"]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      let lines = LineReader(output.fileHandleForReading)
      guard let line = lines.next(), let port = line.split(separator: " ").last.flatMap({ Int($0) })
      else {
        process.terminate()
        throw LoadError("\(executable.lastPathComponent) does not say its port")
      }
      return ServerProcess(process: process, input: input, output: output, lines: lines, port: port)
    }
  }

  /// The most memory that it has had resident so far, in bytes; `nil` where nobody can tell.
  package var peakMemory: Int? { status("VmHWM:") }

  /// The processor time that it has used so far.
  package var processorTime: Duration? {
    guard
      let text = try? String(
        contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
    else { return nil }
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
      return nil
    }
    return .milliseconds((user + system) * 10)
  }

  private func status(_ key: String) -> Int? {
    let path = "/proc/\(process.processIdentifier)/status"
    guard let text = try? String(contentsOfFile: path, encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) }),
      let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({
        Int($0)
      })
    else { return nil }
    return kilobytes * 1024
  }

  /// Asks it to stop, by SIGTERM.
  package func terminate() { send(SIGTERM) }

  package func send(_ signal: Int32) {
    if process.isRunning { Foundation.kill(process.processIdentifier, signal) }
  }

  /// Closes its standard input.
  package func closeInput() throws {
    try input.fileHandleForWriting.close()
  }

  /// Waits until it has ended.
  package func end() async throws -> End {
    try await Self.onThread { [process, lines] in
      var output = ""
      while let line = lines.next() { output += line + "\n" }
      process.waitUntilExit()
      return End(
        output: output, status: process.terminationStatus,
        hasExited: process.terminationReason == .exit)
    }
  }

  /// Ends it at once, if it is still there.
  package func kill() { send(SIGKILL) }

  /// Does what blocks off the threads that all share.
  private static func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
    }
  }
}

import Foundation
import LoopbackCluster

/// A process with gatekeepers, which ends at the latest when its standard input does.
final class PeerProcess: Sendable {
  /// The process ended before it had told who lives there.
  struct Stillborn: Error {
    var status: Int32
  }

  /// The program has not been built beside the tests.
  struct NotBuilt: Error {
    var lookedFor: [String]
  }

  /// Its gatekeepers.
  let ids: [LoopbackID]
  private let process: Process
  private let input: FileHandle

  private init(ids: [LoopbackID], process: Process, input: FileHandle) {
    self.ids = ids
    self.process = process
    self.input = input
  }

  /// Starts one, and waits until it listens.
  static func start(gatekeepers: Int) async throws -> PeerProcess {
    try await elsewhere { Result { try startHere(gatekeepers: gatekeepers) } }.get()
  }

  private static func startHere(gatekeepers: Int) throws -> PeerProcess {
    let process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = try executable()
    process.arguments = ["\(gatekeepers)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var text = Data()
    while text.count(where: { $0 == 0x0A }) < gatekeepers {
      guard let more = try output.fileHandleForReading.read(upToCount: 1), !more.isEmpty else {
        process.waitUntilExit()
        throw Stillborn(status: process.terminationStatus)
      }
      text += more
    }
    let ids = try text.split(separator: 0x0A).map { line in
      try JSONDecoder().decode(LoopbackID.self, from: line)
    }
    return PeerProcess(ids: ids, process: process, input: input.fileHandleForWriting)
  }

  /// Kills it.
  func kill() {
    signal(SIGKILL)
  }

  /// Waits until it has ended, for a minute at most: then it is killed, which its status shows.
  ///
  /// - Returns: its status, or the signal that ended it.
  @discardableResult
  func end() async -> Int32 {
    let killing = DispatchWorkItem { self.kill() }
    DispatchQueue.global().asyncAfter(deadline: .now() + 60, execute: killing)
    defer { killing.cancel() }
    return await Self.elsewhere { [process] in
      process.waitUntilExit()
      return process.terminationStatus
    }
  }

  /// Closes its standard input.
  func closeInput() throws {
    try input.close()
  }

  /// Stops it as it is, and waits until it stands still.
  func stop() async throws {
    signal(SIGSTOP)
    let process = id_t(process.processIdentifier)
    let code = await Self.elsewhere {
      var info = siginfo_t()
      // Left to be waited for by whoever reaps the process.
      return waitid(P_PID, process, &info, Int32(WSTOPPED) | Int32(WNOWAIT)) == 0 ? 0 : errno
    }
    if code != 0 { throw LoopbackError.system(call: "waitid", code: code) }
  }

  /// Lets it go on after ``stop()``.
  func goOn() {
    signal(SIGCONT)
  }

  private func signal(_ number: Int32) {
    // The number of a process that has ended may be another's by now.
    if process.isRunning { _ = Foundation.kill(process.processIdentifier, number) }
  }

  /// Does what waits on a thread of its own: none of Swift's pool, which other tests need.
  private static func elsewhere<Result: Sendable>(
    _ body: @escaping @Sendable () -> Result
  ) async -> Result {
    await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: body()) }.start()
    }
  }

  /// The program, which lies beside the tests' bundle or program.
  private static func executable() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let tests = bundles + [URL(filePath: CommandLine.arguments[0])]
    let candidates = tests.map { $0.deletingLastPathComponent().appending(path: "DistributedPeer") }
    guard
      let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
    else { throw NotBuilt(lookedFor: candidates.map(\.path)) }
    return found
  }
}

import Delegation
import DelegationAdapters
import Foundation
import InMemoryLogging
import Logging
import Testing

@testable import SampleServer

/// The whole server of the page *In a server*.
@Suite("Samples of a server: all of it", .timeLimit(.minutes(10)))
struct OrderServerTests {
  private struct Lost: Error {}

  private final class Talker: OrderGate, OrderObserver {
    func mayPlace(_ order: Int) async throws -> Bool {
      Logger.current.info("asked about \(order)")
      await Task.yield()
      if order == 2 { throw Lost() }
      return true
    }
    func didPlace(_ order: Int) async throws {
      Logger.current.info("told of \(order)")
      if order == 3 { throw Lost() }
    }
  }

  @Test("each line of a handler, of an interceptor and of an incident has the request's id")
  func requestIDs() async {
    var log = InMemoryLogHandler()
    log.metadataProvider = Request.metadata
    let hub = makeHub(Logger(label: "orders") { [log] _ in log }, HubWatch())
    let talker = Talker()
    hub.subscribe(talker, to: OrderGate.self)
    hub.subscribe(talker, to: OrderObserver.self)
    await withTaskGroup { group in
      for order in 1...3 {
        group.addTask {
          await Request.$id.withValue("\(order)") { await Listener(hub: hub).place(order) }
        }
      }
    }
    await hub.drain()
    func lines(of order: Int) -> [String] {
      log.entries.filter { $0.metadata["request-id"] == "\(order)" }.map { entry in
        "\(entry.level) \("\(entry.message)".prefix { $0 != "," })"
      }.sorted()
    }
    let incident = "warning SampleTests.OrderServerTests.Talker"
    #expect(lines(of: 1) == ["info asked about 1", "info told of 1"])
    #expect(lines(of: 2).count == 3)
    #expect(lines(of: 2).prefix(2) == ["error handler failed", "info asked about 2"])
    #expect(
      lines(of: 3).prefix(3) == ["error handler failed", "info asked about 3", "info told of 3"])
    for order in 2...3 { #expect(lines(of: order).last?.hasPrefix(incident.prefix(7)) == true) }
    #expect(log.entries.count == 9)
  }

  @Test("the program takes orders, and stops by SIGTERM when all have been told")
  func program() async throws {
    let (status, text) = try await run()
    #expect(status == 0)
    func lines(_ word: String) -> [Substring] {
      text.split(separator: "\n").filter { $0.contains(word) }
    }
    #expect(lines("mailed order").count == 2)
    #expect(lines("mailed order 1").allSatisfy { $0.contains("request-id=request-1") })
    #expect(lines("mailed order 3").allSatisfy { $0.contains("request-id=request-3") })
    #expect(lines("a page shows the hubs").count == 1)
    #expect(!text.contains("error"))
  }

  /// Runs the server until it has mailed the last order, then asks it to stop.
  ///
  /// - Returns: its exit status, and what it has written to standard error.
  private func run() async throws -> (Int32, String) {
    try await withCheckedThrowingContinuation { continuation in
      // It blocks its thread, which is not to be one of the pool's.
      DispatchQueue.global().async {
        continuation.resume(
          with: Result {
            let (process, errors) = (Process(), Pipe())
            process.executableURL = try Self.program()
            process.standardError = errors
            try process.run()
            var data = Data()
            while case let more = errors.fileHandleForReading.availableData, !more.isEmpty {
              data += more
              if String(decoding: data, as: UTF8.self).contains("mailed order 3") {
                process.terminate()
              }
            }
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: data, as: UTF8.self))
          })
      }
    }
  }

  /// The program, which lies beside the tests' bundle or program.
  private static func program() throws -> URL {
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let places = bundles + [URL(filePath: CommandLine.arguments[0])]
    let programs = places.map { $0.deletingLastPathComponent().appending(path: "SampleServer") }
    return try #require(programs.first { FileManager.default.isExecutableFile(atPath: $0.path) })
  }
}

import Delegation
import Logging
import Testing

@Suite("Samples of a server: logging", .timeLimit(.minutes(10)))
struct ServiceSamples {
  private protocol RequestDelegate: AnyObject, Sendable {
    func didReceive(_ request: String) async throws
  }

  private final class Audit: RequestDelegate {
    func didReceive(_ request: String) async throws { throw CancellationError() }
  }

  private struct Handler: LogHandler {
    let history: History
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(_ history: History) { self.history = history }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }
    func log(event: LogEvent) {
      let keys = (event.metadata ?? [:]).keys.sorted().joined(separator: " ")
      history.add("\(event.level) \(event.message) [\(keys)]")
    }
  }

  private func makeLogger(_ history: History) -> Logger {
    Logger(label: "hub") { _ in Handler(history) }
  }

  @Test("incidents are logged")
  func logging() async throws {
    let log = History()
    let logger = makeLogger(log)
    let hub = DelegateHub(
      .init(
        onIncident: { incident in
          logger.log(
            level: incident.kind == .failed ? .error : .warning, "\(incident)",
            metadata: [
              "kind": "\(incident.kind)", "call": "\(incident.call)",
              "protocol": "\(incident.protocol)",
              "subscriber": "\(incident.subscriber)", "site": "\(incident.site)",
            ])
        },
        slowAfter: .seconds(1)))
    let audit = Audit()
    hub.subscribe(audit, to: RequestDelegate.self)
    hub.notify(RequestDelegate.self) { try await $0.didReceive("bad") }
    await hub.drain()
    let line = try #require(log.lines.first)
    #expect(log.lines.count == 1)
    #expect(line.hasPrefix("error ") && line.hasSuffix("[call kind protocol site subscriber]"))
  }
}

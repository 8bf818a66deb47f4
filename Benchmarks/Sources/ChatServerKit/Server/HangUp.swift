import Logging
import ServiceLifecycle
import UnixSignals

/// At SIGHUP, opens the audit's file anew, as it is wanted after the file was moved away; without an audit, does nothing.
///
/// So a server outlives the terminal that it was started from.
struct HangUp: Service {
  let extensions: ExtensionShelf
  let hasAudit: Bool
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      for await _ in await UnixSignalsSequence(trapping: .sighup) {
        guard hasAudit else {
          logger.notice("SIGHUP: there is no audit to be opened anew")
          continue
        }
        do {
          try await extensions.reload("audit", by: ["by": "SIGHUP"])
        } catch {
          logger.error("the audit's file was not opened anew", metadata: ["error": "\(error)"])
        }
      }
    }
  }
}

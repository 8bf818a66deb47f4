import Logging
import Synchronization

/// Keeps what is logged.
final class LogBook: LogHandler {
  private let entries = Mutex<[String]>([])

  var messages: [String] { entries.withLock { $0 } }

  // These two are the same for all who share the book: nothing sets them.
  var logLevel: Logger.Level {
    get { .trace }
    set {}
  }
  var metadata: Logger.Metadata {
    get { [:] }
    set {}
  }
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { nil }
    set {}
  }

  func log(event: LogEvent) {
    entries.withLock { $0.append("\(event.message)") }
  }
}

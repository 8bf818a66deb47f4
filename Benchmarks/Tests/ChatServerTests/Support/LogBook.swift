import Logging
import Synchronization

/// Keeps what is logged.
final class LogBook: LogHandler {
  private let entries = Mutex<[(message: String, metadata: String)]>([])

  var messages: [String] { entries.withLock { $0 }.map(\.message) }
  /// The messages with what was said about them.
  var lines: [String] { entries.withLock { $0 }.map { $0.message + $0.metadata } }

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
    let metadata = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map {
      " \($0.key)=\($0.value)"
    }
    entries.withLock { $0.append(("\(event.message)", metadata.joined())) }
  }
}

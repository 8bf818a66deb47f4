import Logging
import Metrics
import Synchronization

/// Logs what goes wrong: at most 20 lines a second, then how many more.
///
/// All of it is counted in metrics, those that the logger does not log included.
final class FaultLog: Sendable {
  private let logger: Logger
  private let limit = Mutex(LineLimit())

  init(_ logger: Logger) {
    self.logger = logger
  }

  /// Takes a fault.
  ///
  /// - Parameters:
  ///   - level: how bad it is; what the logger does not log takes nobody's place.
  ///   - message: what went wrong, one of a few texts.
  ///   - metadata: more about it.
  func report(
    _ level: Logger.Level, _ message: Logger.Message,
    metadata: @autoclosure () -> Logger.Metadata = [:]
  ) {
    Metrics.Counter(label: "chat_faults_total", dimensions: [("what", "\(message)")]).increment()
    guard level >= logger.logLevel else { return }
    let (isWritten, beginsSecond) = limit.withLock { $0.add() }
    if isWritten { logger.log(level: level, message, metadata: metadata()) }
    guard beginsSecond else { return }
    Task.detached {
      // Nobody cancels this task.
      try? await Task.sleep(for: .seconds(1))
      let leftOut = self.limit.withLock { $0.endSecond() }
      if leftOut > 0 { self.logger.log(level: level, "and \(leftOut) more faults") }
    }
  }

  /// Does something that may fail.
  func catching(_ body: () throws -> Void) {
    do { try body() } catch { report(.error, "a handler: failed", metadata: ["error": "\(error)"]) }
  }
}

import Logging
import Metrics
import Synchronization

/// Logs what goes wrong: of each kind at most 20 lines a second, then how many more.
///
/// So noise of one kind hides nothing of another, such as somebody who guesses passwords.
///
/// All of it is counted in metrics, those that the logger does not log included.
final class FaultLog: Sendable {
  private let logger: Logger
  /// By the message, of which there are a few.
  private let limits = Mutex<[String: LineLimit]>([:])

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
    let what = "\(message)"
    Metrics.Counter(label: "chat_faults_total", dimensions: [("what", what)]).increment()
    guard level >= logger.logLevel else { return }
    let (isWritten, beginsSecond) = limits.withLock { $0[what, default: LineLimit()].add() }
    if isWritten { logger.log(level: level, message, metadata: metadata()) }
    guard beginsSecond else { return }
    Task.detached {
      // Nobody cancels this task.
      try? await Task.sleep(for: .seconds(1))
      let leftOut = self.limits.withLock { $0[what]?.endSecond() } ?? 0
      if leftOut > 0 { self.logger.log(level: level, "and \(leftOut) more: \(what)") }
    }
  }

  /// Does something that may fail.
  func catching(_ body: () throws -> Void) {
    do { try body() } catch { report(.error, "a handler: failed", metadata: ["error": "\(error)"]) }
  }
}

import Metrics
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes log lines as far as somebody takes them at once, and otherwise leaves them out.
///
/// Whoever logs may be an event loop, which all its clients wait for: it must not wait for a pager, a terminal that was
/// stopped, or whatever else reads the log. How many lines were left out stands before the next one, and in a metric.
final class LogStream: TextOutputStream, Sendable {
  /// A pipe that takes anything at all takes so many bytes without a wait.
  static let longest = 4096

  private let file: Int32
  /// How many lines were left out since the last that was written.
  private let leftOut = Mutex(0)

  init(_ file: Int32) {
    self.file = file
  }

  func write(_ line: String) {
    // One at a time: two that find place for one would have one of them wait.
    let isWritten = leftOut.withLock { leftOut in
      if leftOut > 0, put("\(leftOut) log lines were left out here: nobody took them\n") {
        leftOut = 0
      }
      let isWritten = leftOut == 0 && put(line)
      if !isWritten { leftOut += 1 }
      return isWritten
    }
    if !isWritten { Metrics.Counter(label: "chat_log_lines_left_out_total").increment() }
  }

  /// Writes a text, if that needs no wait.
  private func put(_ text: String) -> Bool {
    var look = pollfd(fd: file, events: Int16(POLLOUT), revents: 0)
    guard poll(&look, 1, 0) == 1, look.revents & Int16(POLLOUT) != 0 else { return false }
    var text = Self.shortened(text)
    return text.withUTF8 { bytes in
      while true {
        let count = platformWrite(file, bytes.baseAddress, bytes.count)
        if count >= 0 || errno != EINTR { return count == bytes.count }
      }
    }
  }

  private static func shortened(_ text: String) -> String {
    guard text.utf8.count > longest else { return text }
    let end = "…\n"
    var cut = text.utf8.index(text.startIndex, offsetBy: longest - end.utf8.count)
    while cut.samePosition(in: text.unicodeScalars) == nil { cut = text.utf8.index(before: cut) }
    return text[..<cut] + end
  }
}

// Inside the class the name means its own function.
private let platformWrite = write(_:_:_:)

/// The lines of an input, one after another.
///
/// Unlike the standard library's `readLine()` it waits if the input is non-blocking and nothing is there.
@MainActor
final class LineReader {
  private let stream: System.Stream
  private var unread: ArraySlice<UInt8> = []
  private var isAtEnd = false
  /// Why the input could not be read to its end.
  private(set) var failure: System.Failure?

  init(_ stream: System.Stream) {
    self.stream = stream
  }

  /// The next line, without its end; `nil` at the end of input, or when it cannot be read.
  ///
  /// What is not UTF-8 in it is replaced.
  func readLine() -> String? {
    // Only what has come since is searched, or a long line would take time that grows with its square.
    var searched = unread.startIndex
    while true {
      if let end = unread[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread = unread[(end + 1)...] }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      searched = unread.endIndex
      let more = isAtEnd ? [] : read()
      if more.isEmpty {
        isAtEnd = true
        defer { unread = [] }
        return unread.isEmpty ? nil : String(decoding: unread, as: UTF8.self)
      }
      unread += more
    }
  }

  private func read() -> [UInt8] {
    do throws(System.Failure) {
      return try System.read(atMost: 65_536, from: stream)
    } catch {
      failure = error
      return []
    }
  }
}

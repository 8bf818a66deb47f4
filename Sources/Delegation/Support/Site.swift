/// Where in the source a subscription was made.
struct Site: Sendable, CustomStringConvertible {
  private let file: StaticString
  /// 32 bits, because each subscription keeps one.
  private let line: UInt32

  init(file: StaticString, line: UInt) {
    self.file = file
    self.line = UInt32(clamping: line)
  }

  var description: String { "\(file):\(line)" }
}

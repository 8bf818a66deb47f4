import NIOCore

/// Cuts what is read into lines, without what ends them, when they are asked for.
///
/// Not in the channel's pipeline: there all lines of what is read would be cut at once, which for empty ones takes many
/// times the memory of what was read, and time that others have to wait.
struct LineSplitter {
  /// How long a line may be.
  private let limit: Int
  private var unread = ByteBuffer()

  init(limit: Int) {
    self.limit = limit
  }

  /// Takes what was read.
  mutating func append(_ bytes: ByteBuffer) {
    var bytes = bytes
    if unread.readableBytes == 0 { unread = bytes } else { unread.writeBuffer(&bytes) }
  }

  /// The next line; `nil` if there is none so far.
  ///
  /// - Throws: a refusal if the line is too long.
  mutating func next() throws(Refusal) -> String? {
    guard let end = unread.readableBytesView.prefix(limit + 1).firstIndex(of: UInt8(ascii: "\n"))
    else {
      if unread.readableBytes > limit { throw Refusal("a line may have at most \(limit) bytes") }
      unread.discardReadBytes()
      return nil
    }
    let line = unread.readString(length: end - unread.readerIndex)
    unread.moveReaderIndex(forwardBy: 1)
    return line.map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
  }

  /// What came without an end, which is a line too; `nil` if there is nothing.
  mutating func last() -> String? {
    unread.readableBytes > 0 ? unread.readString(length: unread.readableBytes) : nil
  }
}

import NIOCore

/// What viewers are sent of one sample, as server-sent events.
///
/// Texts are sent once: a viewer that has had the frame before this one needs `news`, and any other `all`.
/// The figures are absolute, so a frame that a slow viewer was not sent is not missed.
struct Frame: Sendable {
  let number: Int
  /// The texts that are new since the frame before.
  let news: ByteBuffer
  /// All texts; `nil` if nobody wanted them when the frame was made.
  let all: ByteBuffer?
  let figures: ByteBuffer

  /// The last one for a viewer that gives way to another.
  static let farewell = Frame(
    number: -1, news: ByteBuffer(string: "event: replaced\ndata: 0\n\n"), all: nil,
    figures: ByteBuffer())

  /// What to send to a viewer, the texts first.
  ///
  /// - Parameter last: the number of the last frame that it was sent; `nil` if it was sent none.
  /// - Returns: `nil` if it needs all texts, and they are not there.
  func buffers(after last: Int?) -> [ByteBuffer]? {
    if last == number - 1 { return [news, figures] }
    return all.map { [$0, figures] }
  }

  /// An event with a name and data that have no line break.
  static func event(_ name: StaticString, _ data: JSONText) -> ByteBuffer {
    var buffer = ByteBuffer()
    buffer.reserveCapacity(data.bytes.count + 32)
    buffer.writeStaticString("event: ")
    buffer.writeStaticString(name)
    buffer.writeStaticString("\ndata: ")
    buffer.writeBytes(data.bytes)
    buffer.writeStaticString("\n\n")
    return buffer
  }
}

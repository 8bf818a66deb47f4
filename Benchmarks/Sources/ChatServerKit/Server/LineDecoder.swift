import NIOCore

/// Cuts what is read into lines, without what ends them.
struct LineDecoder: NIOSingleStepByteToMessageDecoder {
  typealias InboundOut = ByteBuffer

  struct TooLong: Error {}

  let limit: Int

  func decode(buffer: inout ByteBuffer) throws -> ByteBuffer? {
    guard let end = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
      if buffer.readableBytes > limit { throw TooLong() }
      return nil
    }
    let length = end - buffer.readerIndex
    guard length <= limit, var line = buffer.readSlice(length: length) else { throw TooLong() }
    buffer.moveReaderIndex(forwardBy: 1)
    if line.readableBytesView.last == UInt8(ascii: "\r") {
      line.moveWriterIndex(to: line.writerIndex - 1)
    }
    return line
  }

  /// What comes without an end is a line too.
  func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) throws -> ByteBuffer? {
    if let line = try decode(buffer: &buffer) { return line }
    return buffer.readableBytes > 0 ? buffer.readSlice(length: buffer.readableBytes) : nil
  }
}

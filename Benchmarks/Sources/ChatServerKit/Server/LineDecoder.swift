import NIOCore

/// Cuts what is read into lines, without what ends them.
///
/// A line that is too long comes in pieces, the first of which has one byte more than a line may have: whoever takes
/// it can tell the client why it has to go. After an error nothing could be read from the client any more.
struct LineDecoder: NIOSingleStepByteToMessageDecoder {
  typealias InboundOut = ByteBuffer

  let limit: Int

  func decode(buffer: inout ByteBuffer) -> ByteBuffer? {
    guard let end = buffer.readableBytesView.prefix(limit + 1).firstIndex(of: UInt8(ascii: "\n"))
    else { return buffer.readSlice(length: limit + 1) }
    let length = end - buffer.readerIndex
    defer { buffer.moveReaderIndex(forwardBy: length + 1) }
    let hasReturn = length > 0 && buffer.readableBytesView[end - 1] == UInt8(ascii: "\r")
    return buffer.getSlice(at: buffer.readerIndex, length: hasReturn ? length - 1 : length)
  }

  /// What comes without an end is a line too.
  func decodeLast(buffer: inout ByteBuffer, seenEOF: Bool) -> ByteBuffer? {
    if let line = decode(buffer: &buffer) { return line }
    return buffer.readableBytes > 0 ? buffer.readSlice(length: buffer.readableBytes) : nil
  }
}

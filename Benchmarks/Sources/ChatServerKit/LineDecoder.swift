import NIOCore

/// Cuts what is read into lines; a line that is too long is an error that ends the connection.
struct LineDecoder: ByteToMessageDecoder {
  typealias InboundOut = String

  struct TooLong: Error {}

  let limit: Int

  mutating func decode(
    context: ChannelHandlerContext, buffer: inout ByteBuffer
  ) throws -> DecodingState {
    let bytes = buffer.readableBytesView
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
    guard line.count <= limit else { throw TooLong() }
    guard line.count < bytes.count else { return .needMoreData }
    buffer.moveReaderIndex(forwardBy: line.count + 1)
    context.fireChannelRead(Self.wrapInboundOut(String(decoding: line, as: UTF8.self)))
    return .continue
  }

  mutating func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    try decode(context: context, buffer: &buffer)
  }
}

import NIOCore

/// Lets no more than so many bytes of a connection's input through, and then reports an error.
///
/// A connection is for one request, so this is a request's limit.
final class InputLimit: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  struct Exceeded: Error {}

  private var left: Int

  init(_ limit: Int) {
    left = limit
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if left < 0 { return }
    left -= unwrapInboundIn(data).readableBytes
    if left < 0 {
      context.fireErrorCaught(Exceeded())
    } else {
      context.fireChannelRead(data)
    }
  }
}

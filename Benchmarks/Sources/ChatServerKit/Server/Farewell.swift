import NIOCore

/// Writes the last line that a client gets, and nothing after it.
///
/// Members of rooms write from tasks of their own. So what they write after the last line is dropped here, where
/// all that is written has one order.
final class Farewell: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The event that makes it write the last line.
  struct LastLine: Sendable {
    let line: String
  }

  private var isOver = false

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard let last = event as? LastLine else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    guard !isOver else { return promise?.succeed() ?? () }
    isOver = true
    context.writeAndFlush(
      wrapOutboundOut(ByteBuffer(string: last.line + "\n")), promise: promise)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    if isOver {
      promise?.fail(ChannelError.outputClosed)
    } else {
      context.write(data, promise: promise)
    }
  }
}

import NIOCore

/// Flushes at most once per turn of the event loop.
///
/// `NIOAsyncChannel` flushes after each write, a system call for every message; so those of one turn go
/// out together.
final class FlushGathering: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var isScheduled = false

  func flush(context: ChannelHandlerContext) {
    guard !isScheduled else { return }
    isScheduled = true
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.execute {
      let (handler, context) = bound.value
      handler.isScheduled = false
      context.flush()
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    context.flush()
    context.close(mode: mode, promise: promise)
  }
}

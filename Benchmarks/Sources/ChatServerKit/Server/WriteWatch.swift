import NIOCore

/// Closes a channel whose client has taken nothing of what it is sent for a time.
///
/// Without this a client that does not read keeps its descriptor for as long as it likes, though it has
/// closed its own side: the server waits for it to take the answers.
///
/// What the kernel has accepted counts as taken, since only it knows more.
final class WriteWatch: ChannelDuplexHandler {
  typealias InboundIn = Any
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let timeout: TimeAmount
  /// The next look, as long as something waits to be taken.
  private var look: Scheduled<Void>?
  /// How many bytes have been written to the channel.
  private var written = 0

  /// - Parameter timeout: for how long a client may take nothing.
  init(_ timeout: TimeAmount) {
    self.timeout = timeout
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    written += unwrapOutboundIn(data).readableBytes
    context.write(data, promise: promise)
  }

  func flush(context: ChannelHandlerContext) {
    context.flush()
    if look == nil, Self.unsent(context) > 0 { watch(context) }
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    stop()
  }

  private func watch(_ context: ChannelHandlerContext) {
    let before = written - Self.unsent(context)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    look = context.eventLoop.scheduleTask(in: timeout) {
      let (handler, context) = bound.value
      handler.look = nil
      let unsent = Self.unsent(context)
      if unsent == 0 { return }
      if handler.written - unsent > before {
        handler.watch(context)
      } else {
        context.close(promise: nil)
      }
    }
  }

  private func stop() {
    look?.cancel()
    look = nil
  }

  private static func unsent(_ context: ChannelHandlerContext) -> Int {
    (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }
}

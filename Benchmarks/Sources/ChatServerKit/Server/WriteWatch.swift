import NIOCore

/// Closes a channel whose client has taken nothing of what it is sent for a time.
///
/// Without this a client that does not read keeps its descriptor for as long as it likes, though it has
/// closed its own side: the server waits for it to take the answers.
final class WriteWatch: ChannelInboundHandler {
  typealias InboundIn = Any

  private let timeout: TimeAmount
  /// The next look, as long as the channel is not writable.
  private var look: Scheduled<Void>?

  /// - Parameter timeout: for how long a client may take nothing.
  init(_ timeout: TimeAmount) {
    self.timeout = timeout
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable {
      stop()
    } else if look == nil {
      watch(context)
    }
    context.fireChannelWritabilityChanged()
  }

  func channelInactive(context: ChannelHandlerContext) {
    stop()
    context.fireChannelInactive()
  }

  private func watch(_ context: ChannelHandlerContext) {
    // Nobody writes to a channel that is not writable, so it becomes less if the client takes anything.
    let before = Self.unsent(context)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    look = context.eventLoop.scheduleTask(in: timeout) {
      let (handler, context) = bound.value
      handler.look = nil
      if Self.unsent(context) < before {
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

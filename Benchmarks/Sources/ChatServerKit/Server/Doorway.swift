import NIOCore

/// Hands a channel on once it is open, and does nothing else.
///
/// That is early enough for all that is read, the end of the input included, which is read even from a
/// channel that does not read by itself. And it is late enough that the listener does not drop the channel
/// any more without anybody being told.
final class Doorway: ChannelInboundHandler {
  typealias InboundIn = Any

  private let take: @Sendable (any Channel) -> Void

  /// - Parameter take: takes the channel, on its event loop, before anything is read.
  init(_ take: @escaping @Sendable (any Channel) -> Void) {
    self.take = take
  }

  func channelActive(context: ChannelHandlerContext) {
    // Before the others are told: one that is added by this has to be told as well.
    take(context.channel)
    context.fireChannelActive()
  }
}

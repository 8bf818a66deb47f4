import NIOCore

/// Hands a channel on once it is open, and does nothing else.
///
/// Before that a channel may still be dropped by the listener, without anybody being told: what somebody
/// had made of it by then would be left unfinished.
final class Doorway: ChannelInboundHandler {
  typealias InboundIn = Any

  private let take: @Sendable (any Channel) -> Void

  /// - Parameter take: takes the channel, on its event loop.
  init(_ take: @escaping @Sendable (any Channel) -> Void) {
    self.take = take
  }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    take(context.channel)
  }
}

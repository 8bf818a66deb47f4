import NIOCore

/// Accepts no more connections than there may be, and none for a moment when accepting fails.
///
/// Those that come then wait in the kernel until others have gone. To go on accepting when there are no
/// descriptors left would keep a processor busy for nothing: the kernel says again and again that somebody
/// is waiting. It belongs into the pipeline of the listening channel, which has to read one connection at
/// a time.
final class AcceptLimit: ChannelInboundHandler {
  typealias InboundIn = any Channel

  private let limit: Int
  private let pause: TimeAmount
  private let onFailure: (any Error) -> Void
  /// How many have been accepted and are not closed.
  ///
  /// More are accepted only while it is below the limit.
  private var count = 0
  /// Until when nothing is accepted, because the last time failed.
  private var wait: Scheduled<Void>?

  /// - Parameters:
  ///   - limit: how many connections there may be.
  ///   - pause: how long to accept nothing after a failure.
  ///   - onFailure: is told why accepting failed, once for each pause.
  init(
    _ limit: Int, pause: TimeAmount = .milliseconds(500),
    onFailure: @escaping (any Error) -> Void = { _ in }
  ) {
    self.limit = limit
    self.pause = pause
    self.onFailure = onFailure
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    count += 1
    update(context)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    // A connection may live on another loop than this.
    unwrapInboundIn(data).closeFuture.hop(to: context.eventLoop).whenComplete { _ in
      let (handler, context) = bound.value
      handler.count -= 1
      handler.update(context)
    }
    context.fireChannelRead(data)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if error is IOError, wait == nil {
      onFailure(error)
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      wait = context.eventLoop.scheduleTask(in: pause) {
        let (handler, context) = bound.value
        handler.wait = nil
        handler.update(context)
      }
      update(context)
    }
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    wait?.cancel()
    wait = nil
    context.fireChannelInactive()
  }

  private func update(_ context: ChannelHandlerContext) {
    guard context.channel.isActive else { return }
    // Not by holding back `read`, for a read that has failed is still pending.
    try? context.channel.syncOptions?.setOption(.autoRead, value: count < limit && wait == nil)
  }
}

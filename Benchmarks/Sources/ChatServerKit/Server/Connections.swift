import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// Serves the clients, and says goodbye to them when it is told to stop.
final class Connections: Service {
  private let chat: Chat
  private let logger: Logger
  private let limits: Connection.Limits
  private let (newcomers, entrance) = AsyncStream<Connection.Channel>.makeStream()
  private let present = Mutex<[Int: Connection]>([:])

  init(chat: Chat, limits: Connection.Limits, logger: Logger) {
    self.chat = chat
    self.limits = limits
    self.logger = logger
  }

  /// Takes a channel to be served, or closes it if nobody is served any more.
  ///
  /// To be called on its event loop, before anything is read.
  func add(_ channel: any Channel) {
    guard
      let wrapped = try? Connection.Channel(
        wrappingChannelSynchronously: channel,
        configuration: .init(isOutboundHalfClosureEnabled: true))
    else { return channel.close(promise: nil) }
    // It stops the program to drop it before its channel has closed, as the stream may do at the end.
    channel.closeFuture.whenComplete { _ in withExtendedLifetime(wrapped) {} }
    // What is added before the end is served: a stream that has ended gives what it holds first.
    if case .terminated = entrance.yield(wrapped) { channel.close(promise: nil) }
  }

  func run() async throws {
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        var count = 0
        for await channel in newcomers {
          count += 1
          let connection = Connection(
            id: count, channel: channel, chat: chat, limits: limits, logger: logger)
          present.withLock { $0[connection.id] = connection }
          group.addTask {
            await connection.run()
            self.present.withLock { $0[connection.id] = nil }
          }
        }
        for connection in present.withLock({ Array($0.values) }) {
          group.addTask { await connection.bidFarewell() }
        }
      }
    } onGracefulShutdown: {
      self.entrance.finish()
    }
  }
}

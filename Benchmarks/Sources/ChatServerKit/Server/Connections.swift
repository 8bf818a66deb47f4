import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// Serves so many clients and no more, and says goodbye to them when it is told to stop.
final class Connections: Service {
  private let chat: Chat
  let limit: Int
  private let limits: Connection.Limits
  private let (newcomers, entrance) = AsyncStream<Connection.Channel>.makeStream()
  private let present = Mutex<[Int: Connection]>([:])

  /// How many clients that are too many are told so at a time; those beyond wait in the kernel.
  static let refusals = 16

  init(chat: Chat, limit: Int, limits: Connection.Limits) {
    self.chat = chat
    self.limit = limit
    self.limits = limits
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
            id: count, channel: channel, chat: chat, limits: limits)
          let isPresent = present.withLock { present in
            guard present.count < limit else { return false }
            present[connection.id] = connection
            return true
          }
          group.addTask { [limit] in
            if !isPresent {
              await connection.report(.warning, "a connection was refused", ["limit": "\(limit)"])
              await connection.bidFarewell("there are \(limit) others: try again later")
            }
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

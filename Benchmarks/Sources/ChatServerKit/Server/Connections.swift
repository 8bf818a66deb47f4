import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

/// Serves the clients, and says goodbye to them when it is told to stop.
final class Connections: Service {
  private let chat: Chat
  private let logger: Logger
  private let patience: TimeAmount
  private let (newcomers, entrance) = AsyncStream<any Channel>.makeStream()
  private let present = Mutex<[Int: Connection]>([:])

  init(chat: Chat, patience: TimeAmount, logger: Logger) {
    self.chat = chat
    self.patience = patience
    self.logger = logger
  }

  /// Takes a channel to be served, or closes it if nobody is served any more.
  func add(_ channel: any Channel) {
    // What is added before the end is served, for a stream that has ended gives what it holds first.
    if case .terminated = entrance.yield(channel) { channel.close(promise: nil) }
  }

  func run() async throws {
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        var count = 0
        for await channel in newcomers {
          count += 1
          let connection = Connection(id: count, channel: channel, chat: chat, logger: logger)
          present.withLock { $0[connection.id] = connection }
          group.addTask {
            await connection.run()
            self.present.withLock { $0[connection.id] = nil }
          }
        }
        for connection in present.withLock({ Array($0.values) }) {
          group.addTask { await connection.bidFarewell(within: self.patience) }
        }
      }
    } onGracefulShutdown: {
      self.entrance.finish()
    }
  }
}

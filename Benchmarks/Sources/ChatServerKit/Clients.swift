import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Those who are connected: serves them until the group shuts down, then says goodbye to all.
///
/// Stopped after the hubs are drained, so that what has been said is heard.
final class Clients: Service {
  typealias Client = NIOAsyncChannel<String, ByteBuffer>

  private let chat: Chat
  private let clients: AsyncStream<Client>
  private let continuation: AsyncStream<Client>.Continuation
  private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

  init(_ chat: Chat) {
    self.chat = chat
    (clients, continuation) = AsyncStream.makeStream()
  }

  /// Prepares a new connection, in its event loop.
  func admit(_ channel: any Channel) -> EventLoopFuture<Void> {
    let (limits, continuation) = (chat.limits, continuation)
    return channel.eventLoop.makeCompletedFuture {
      try channel.pipeline.syncOperations.addHandlers([
        IdleStateHandler(allTimeout: TimeAmount(limits.silence)), SilenceHandler(),
        ByteToMessageHandler(LineDecoder(limit: limits.line)),
      ])
      let client = try Client(
        wrappingChannelSynchronously: channel,
        configuration: .init(
          // Half a connection is closed as a whole.
          isOutboundHalfClosureEnabled: false, inboundType: String.self,
          outboundType: ByteBuffer.self))
      if case .terminated = continuation.yield(client) {
        Task { try await client.executeThenClose { _, _ in } }
      }
    }
  }

  func run() async {
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        for await client in clients {
          group.addTask { await self.serve(client) }
        }
      }
    } onGracefulShutdown: {
      self.sayGoodbye()
    }
  }

  private func serve(_ client: Client) async {
    let key = ObjectIdentifier(client.channel)
    let count = channels.withLock { channels in
      channels[key] = client.channel
      return channels.count
    }
    try? await client.executeThenClose { inbound, outbound in
      if count > chat.limits.connections {
        try await outbound.write(ByteBuffer(string: "no there are too many connections\n"))
      } else {
        await Connection(chat, client.channel, outbound).run(inbound)
      }
    }
    _ = channels.withLock { $0.removeValue(forKey: key) }
  }

  private func sayGoodbye() {
    continuation.finish()
    for channel in channels.withLock({ $0 }).values {
      channel.writeAndFlush(ByteBuffer(string: "bye\n")).whenComplete { _ in
        channel.close(promise: nil)
      }
      // One that does not read does not hold up the others.
      channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    }
  }
}

/// Closes a connection on which nothing is read or written for too long.
private final class SilenceHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent {
      context.close(promise: nil)
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }
}

/// Takes in new clients until the group shuts down; from then on the chat refuses what they ask for.
struct Listener: Service {
  let chat: Chat
  let clients: Clients
  let host: String
  let port: Int
  let onListening: @Sendable (Int) -> Void

  func run() async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // What waits for a client that does not read waits in its mailbox, and not in the kernel.
      .childChannelOption(.socketOption(.so_sndbuf), value: 1 << 16)
      .childChannelInitializer { [clients] in clients.admit($0) }
      .bind(host: host, port: port).get()
    if let port = server.localAddress?.port { onListening(port) }
    // If the group is cancelled in place of a shutdown, it ends as well.
    try? await gracefulShutdown()
    chat.stop()
    try await server.close()
  }
}

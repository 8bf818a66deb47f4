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
      let idle = IdleStateHandler(allTimeout: TimeAmount(limits.silence))
      try channel.pipeline.syncOperations.addHandlers([
        idle, ByteToMessageHandler(LineDecoder(limit: limits.line)),
      ])
      let client = try Client(
        wrappingChannelSynchronously: channel,
        configuration: .init(
          isOutboundHalfClosureEnabled: false, inboundType: String.self,
          outboundType: ByteBuffer.self))
      // What is written before it is active may be lost.
      let door = DoorHandler {
        guard case .terminated = continuation.yield(client) else { return }
        Task { try await client.executeThenClose { _, _ in } }
      }
      try channel.pipeline.syncOperations.addHandler(door, position: .after(idle))
    }
  }

  func run() async {
    await withGracefulShutdownHandler {
      for await client in clients {
        let count = channels.withLock { channels in
          channels[ObjectIdentifier(client.channel)] = client.channel
          return channels.count
        }
        // In a task that nobody waits for: a client may wait for a gate that hangs.
        Task { await serve(client, count) }
      }
    } onGracefulShutdown: { [continuation] in
      continuation.finish()
    }
    await sayGoodbye()
  }

  private func serve(_ client: Client, _ count: Int) async {
    try? await client.executeThenClose { inbound, outbound in
      if count > chat.limits.connections {
        try await outbound.write(ByteBuffer(string: "no there are too many connections\n"))
      } else {
        await Connection(chat, client.channel, outbound).run(inbound)
      }
    }
    _ = channels.withLock { $0.removeValue(forKey: ObjectIdentifier(client.channel)) }
  }

  /// Returns when all connections are closed.
  private func sayGoodbye() async {
    let channels = channels.withLock { $0.values }
    for channel in channels {
      channel.writeAndFlush(ByteBuffer(string: "bye\n")).whenComplete { _ in
        channel.close(promise: nil)
      }
      // One that does not read does not hold up the others.
      channel.eventLoop.scheduleTask(in: TimeAmount(chat.limits.drain / 3)) {
        channel.close(promise: nil)
      }
    }
    for channel in channels { try? await channel.closeFuture.get() }
  }
}

/// Lets a connection in once it is active, and closes it if nothing is read or written for too long.
private final class DoorHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private var letIn: (() -> Void)?

  init(_ letIn: @escaping () -> Void) { self.letIn = letIn }

  func channelActive(context: ChannelHandlerContext) {
    letIn.take()?()
    context.fireChannelActive()
  }

  /// One that has gone before is let in to be taken away.
  func handlerRemoved(context: ChannelHandlerContext) { letIn.take()?() }

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
    let server = try await listen()
    if let port = server.localAddress?.port { onListening(port) }
    // If the group is cancelled in place of a shutdown, it ends as well.
    try? await gracefulShutdown()
    chat.stop()
    try await server.close()
  }

  private func listen() async throws -> any Channel {
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // Of a client that has gone all that is in the kernel is read at once: so that is little.
      .serverChannelOption(.socketOption(.so_rcvbuf), value: 1 << 13)
      // What waits for a client that does not read waits in its mailbox, and not in the kernel.
      .childChannelOption(.socketOption(.so_sndbuf), value: 1 << 16)
      // What is read at once holds up the others of its loop, and may be nothing but ends of lines.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048))
      // Who says no more still hears the answers to what was said.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { [clients] in clients.admit($0) }
    do { return try await bootstrap.bind(host: host, port: port).get() } catch {
      throw ChatError(text: "clients cannot connect to \(host), port \(port): \(error)")
    }
  }
}

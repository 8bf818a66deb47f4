import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Accepts connections until it is told to stop.
///
/// At every moment a channel belongs to somebody who closes it: to NIO's listener until it is open, to the
/// connections from then on. No sequence is in between that may end and drop what it holds, so it does not
/// matter when the end comes.
struct Listener: Service {
  let configuration: ServerConfiguration
  let connections: Connections
  let logger: Logger
  /// Is told the port, once there is one.
  let onListening: @Sendable (Int) -> Void

  func run() async throws {
    let server = try await listen()
    onListening(server.localAddress?.port ?? configuration.port)
    try await withTaskCancellationHandler {
      try await withGracefulShutdownHandler {
        try await server.closeFuture.get()
      } onGracefulShutdown: {
        server.close(promise: nil)
      }
    } onCancel: {
      server.close(promise: nil)
    }
    // NIO closes the socket by itself after errors that do not pass.
    guard Task.isShuttingDownGracefully || Task.isCancelled else {
      throw Refusal("the listening socket was closed: nobody can connect any more")
    }
  }

  private func listen() async throws -> any Channel {
    let writeTimeout = TimeAmount(configuration.writeTimeout)
    let connections = connections
    let logger = logger
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // So that the limit is exact.
      .serverChannelOption(.maxMessagesPerRead, value: 1)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            AcceptLimit(connections.limit + Connections.refusals) { error in
              logger.warning("cannot accept a connection", metadata: ["error": "\(error)"])
            })
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // So a client that has vanished without a word is noticed some time.
      .childChannelOption(.socketOption(.so_keepalive), value: 1)
      // So a client that does not read is noticed before the kernel holds megabytes for it.
      .childChannelOption(.socketOption(.so_sndbuf), value: 128 * 1024)
      // So much is kept for a client that does not read, and what is being written.
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 * 1024, high: 64 * 1024))
      // So little is kept of what a client writes that is not read: at its end NIO reads all of it at once.
      .childChannelOption(.socketOption(.so_rcvbuf), value: 16 * 1024)
      // So that the others have their turn.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(
        .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 2048)
      )
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(WriteWatch(writeTimeout))
          try pipeline.addHandler(FlushGathering())
          try pipeline.addHandler(Farewell())
          try pipeline.addHandler(Doorway { connections.add($0) })
        }
      }
    do {
      return try await bootstrap.bind(host: configuration.host, port: configuration.port).get()
    } catch {
      throw Refusal("cannot listen on \(configuration.host), port \(configuration.port): \(error)")
    }
  }
}

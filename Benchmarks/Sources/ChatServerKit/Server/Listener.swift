import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Accepts connections until it is told to stop.
struct Listener: Service {
  let configuration: ServerConfiguration
  let connections: Connections
  let logger: Logger
  /// Is told the port, once there is one.
  let onListening: @Sendable (Int) -> Void

  func run() async throws {
    let limit = configuration.lineLimit
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // So a client that does not read is noticed before the kernel holds megabytes for it.
      .childChannelOption(.socketOption(.so_sndbuf), value: 128 * 1024)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 256 * 1024))
      .bind(host: configuration.host, port: configuration.port) { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(ByteToMessageHandler(LineDecoder(limit: limit)))
          try pipeline.addHandler(FlushGathering())
          return try Connection.Channel(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    try await server.executeThenClose { inbound in
      onListening(server.channel.localAddress?.port ?? configuration.port)
      for try await channel in inbound.cancelOnGracefulShutdown() { connections.add(channel) }
    }
  }
}

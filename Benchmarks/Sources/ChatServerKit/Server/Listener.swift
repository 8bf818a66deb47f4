import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Accepts connections until it is told to stop.
///
/// A channel goes from here to the connections as it is, and reads nothing before somebody takes it. At
/// every moment it belongs to somebody who closes it: to the listener until it is open, to the connections
/// from then on. So it does not matter when the end comes.
struct Listener: Service {
  let configuration: ServerConfiguration
  let connections: Connections
  let logger: Logger
  /// Is told the port, once there is one.
  let onListening: @Sendable (Int) -> Void

  func run() async throws {
    let limit = configuration.lineLimit
    let connections = connections
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      // So a client that does not read is noticed before the kernel holds megabytes for it.
      .childChannelOption(.socketOption(.so_sndbuf), value: 128 * 1024)
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 * 1024, high: 256 * 1024))
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(ByteToMessageHandler(LineDecoder(limit: limit)))
          try pipeline.addHandler(FlushGathering())
          try pipeline.addHandler(Doorway { connections.add($0) })
        }
      }
      .bind(host: configuration.host, port: configuration.port).get()
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
  }
}

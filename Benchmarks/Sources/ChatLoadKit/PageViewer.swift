import NIOCore
import NIOPosix
import Synchronization

/// Somebody who looks at a server's page of its hubs, and reads all that is sent.
package final class PageViewer: Sendable {
  private final class Reader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let viewer: PageViewer

    init(_ viewer: PageViewer) {
      self.viewer = viewer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      viewer.bytes.add(unwrapInboundIn(data).readableBytes, ordering: .relaxed)
    }
  }

  private let bytes = Atomic(0)

  /// How many bytes it has been sent.
  package var received: Int { bytes.load(ordering: .relaxed) }

  package init() {}

  /// A port that is free, or was a moment ago.
  package static func freePort() async throws -> Int {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).get()
    let port = server.localAddress?.port ?? 0
    try await server.close().get()
    return port
  }

  /// Looks at the page at a port as long as the body takes.
  package func looking<Result: Sendable>(
    at port: Int, _ body: () async throws -> Result
  ) async throws -> Result {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Reader(self))
        }
      }
      .connect(host: "127.0.0.1", port: port).get()
    let request = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    try await channel.writeAndFlush(ByteBuffer(string: request)).get()
    let result = try await body()
    try? await channel.close().get()
    return result
  }
}

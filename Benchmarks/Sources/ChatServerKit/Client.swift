import NIOCore
import NIOPosix

/// A client that writes lines and reads them.
package final class Client {
  private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  private var lines: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
  package private(set) var unread = ""

  private init(
    _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
    _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
  ) {
    self.outbound = outbound
    lines = inbound.makeAsyncIterator()
  }

  /// Connects, and disconnects when the body returns.
  package static func talk<R: Sendable>(
    to port: Int, _ body: (Client) async throws -> R
  ) async throws -> R {
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.socketOption(.so_rcvbuf), value: 4096)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
            wrappingChannelSynchronously: channel,
            configuration: .init(isOutboundHalfClosureEnabled: true))
        }
      }
    return try await channel.executeThenClose { try await body(Client($0, $1)) }
  }

  package func send(_ bytes: [UInt8]) async throws {
    try await outbound.write(ByteBuffer(bytes: bytes))
  }

  package func say(_ line: String) async throws { try await send(Array("\(line)\n".utf8)) }
  /// Says no more.
  package func finish() { outbound.finish() }

  /// The next line; `nil` at the end.
  package func read() async throws -> String? {
    while true {
      if let end = unread.firstIndex(of: "\n") {
        defer { unread = String(unread[unread.index(after: end)...]) }
        return String(unread[..<end])
      }
      guard let more = try await lines.next() else { return nil }
      unread += String(buffer: more)
    }
  }
}

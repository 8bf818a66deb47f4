import NIOCore
import NIOPosix
import Synchronization

/// A connection to a page, as a browser or anybody else has it.
struct Looker {
  struct Ended: Error {}

  private final class Ear: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let parts: AsyncStream<String>.Continuation

    init(_ parts: AsyncStream<String>.Continuation) {
      self.parts = parts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      parts.yield(String(buffer: unwrapInboundIn(data)))
    }

    func channelInactive(context: ChannelHandlerContext) {
      parts.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      context.close(promise: nil)
    }
  }

  let channel: any Channel
  private var iterator: AsyncStream<String>.AsyncIterator
  /// What has come so far and has not been taken.
  private(set) var text = ""

  init(port: Int, receiveBuffer: Int? = nil) async throws {
    let (parts, continuation) = AsyncStream<String>.makeStream()
    var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Ear(continuation))
        }
      }
    if let receiveBuffer {
      bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
    }
    channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
    iterator = parts.makeAsyncIterator()
  }

  /// Asks for something with the headers that a browser has.
  static func asking(
    _ path: String, of port: Int, receiveBuffer: Int? = nil
  ) async throws -> Looker {
    let looker = try await Looker(port: port, receiveBuffer: receiveBuffer)
    try await looker.write("GET \(path) HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n")
    return looker
  }

  func write(_ text: String) async throws {
    try await channel.writeAndFlush(ByteBuffer(string: text)).get()
  }

  /// Reads up to a text, which is taken as well.
  @discardableResult
  mutating func read(upTo end: String) async throws -> String {
    while true {
      if let range = text.firstRange(of: end) {
        defer { text.removeSubrange(..<range.upperBound) }
        return String(text[..<range.upperBound])
      }
      guard let part = await iterator.next() else { throw Ended() }
      text += part
    }
  }

  /// Reads to the end.
  mutating func rest() async -> String {
    while let part = await iterator.next() { text += part }
    defer { text = "" }
    return text
  }

  /// Reads the data of the next event with a name.
  @discardableResult
  mutating func event(_ name: String) async throws -> String {
    try await read(upTo: "event: \(name)\ndata: ")
    return try await read(upTo: "\n\n")
  }

  func close() async throws {
    try await channel.close().get()
  }
}

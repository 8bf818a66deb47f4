import NIOCore
import NIOEmbedded
import Testing

@testable import ChatServerKit

@Suite("Handlers in the chat server's pipelines", .timeLimit(.minutes(10)))
struct ChannelHandlerTests {
  /// What was last said of reading; `nil` if nothing was.
  private func autoRead(of channel: EmbeddedChannel) -> Bool? {
    channel.options.lazy.compactMap { option, value in
      option is ChannelOptions.Types.AutoReadOption ? value as? Bool : nil
    }.first
  }

  @Test("nothing is accepted at the limit, until a connection has closed")
  func limit() throws {
    let listener = EmbeddedChannel(handler: AcceptLimit(2))
    try listener.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    let children = [EmbeddedChannel(), EmbeddedChannel()]
    for child in children { try child.connect(to: .init(ipAddress: "127.0.0.1", port: 2)).wait() }
    try listener.writeInbound(children[0] as any Channel)
    #expect(autoRead(of: listener) == true)
    try listener.writeInbound(children[1] as any Channel)
    #expect(autoRead(of: listener) == false)
    try children[0].close().wait()
    children[0].embeddedEventLoop.run()
    listener.embeddedEventLoop.run()
    #expect(autoRead(of: listener) == true)
  }

  @Test("nothing is accepted for a while after a failure, however often it fails")
  func failure() throws {
    var failures = 0
    let listener = EmbeddedChannel(
      handler: AcceptLimit(2, pause: .seconds(1)) { _ in failures += 1 })
    try listener.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    for _ in 1...2 {
      for _ in 1...2 {
        listener.pipeline.fireErrorCaught(IOError(errnoCode: 24, reason: "no descriptors"))
        #expect(throws: IOError.self) { try listener.throwIfErrorCaught() }
        #expect(autoRead(of: listener) == false)
        listener.embeddedEventLoop.advanceTime(by: .milliseconds(400))
        #expect(autoRead(of: listener) == false)
      }
      listener.embeddedEventLoop.advanceTime(by: .milliseconds(200))
      #expect(autoRead(of: listener) == true)
    }
    #expect(failures == 2, "told once for each pause")
  }

  @Test("nothing is written after the last line, whoever has it under way")
  func farewell() throws {
    let channel = EmbeddedChannel(handlers: [FlushGathering(), Farewell()])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.writeAndFlush(ByteBuffer(string: "msg\n"), promise: nil)
    channel.triggerUserOutboundEvent(Farewell.LastLine(line: "bye"), promise: nil)
    channel.writeAndFlush(ByteBuffer(string: "msg\n"), promise: nil)
    channel.embeddedEventLoop.run()
    var lines: [String] = []
    while let line = try channel.readOutbound(as: ByteBuffer.self) {
      lines.append(String(buffer: line))
    }
    #expect(lines == ["msg\n", "bye\n"])
  }

  /// Lets the channel send what was written, or holds it up.
  private final class Clog: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    var isClosed = true

    func flush(context: ChannelHandlerContext) {
      if !isClosed { context.flush() }
    }
  }

  /// A watched channel whose client takes nothing until it is let.
  private func watchedChannel() throws -> (EmbeddedChannel, Clog) {
    let clog = Clog()
    let channel = EmbeddedChannel(handlers: [clog, WriteWatch(.seconds(10))])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return (channel, clog)
  }

  @Test(
    "a client that takes nothing is closed when its time is up, one that takes something is not",
    arguments: [true, false])
  func writeWatch(takesSomething: Bool) throws {
    let (channel, clog) = try watchedChannel()
    // The channel stays writable: so little counts as well.
    channel.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
    channel.embeddedEventLoop.advanceTime(by: .seconds(9))
    #expect(channel.isActive)
    if takesSomething {
      clog.isClosed = false
      channel.flush()
      clog.isClosed = true
    }
    // What comes meanwhile is not taken for progress, nor for a lack of it.
    channel.writeAndFlush(ByteBuffer(string: "hello, hello"), promise: nil)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(channel.isActive == takesSomething)
    // It goes on watching.
    channel.embeddedEventLoop.advanceTime(by: .seconds(10))
    #expect(!channel.isActive)
  }

  @Test("a client that has taken what there was is not watched until there is something again")
  func takenAll() throws {
    let (channel, clog) = try watchedChannel()
    channel.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
    clog.isClosed = false
    channel.flush()
    channel.embeddedEventLoop.advanceTime(by: .seconds(3600))
    #expect(channel.isActive)
    clog.isClosed = true
    channel.writeAndFlush(ByteBuffer(string: "hello"), promise: nil)
    channel.embeddedEventLoop.advanceTime(by: .seconds(9))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive)
  }
}

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
    let listener = EmbeddedChannel(handler: AcceptLimit(2, pause: .seconds(1)))
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
  }

  @Test(
    "a client that takes nothing is closed when its time is up, one that takes something is not")
  func writeWatch() throws {
    for takesSomething in [false, true] {
      let channel = EmbeddedChannel(handler: WriteWatch(.seconds(10)))
      try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
      channel.write(ByteBuffer(string: "hello"), promise: nil)
      channel.isWritable = false
      channel.pipeline.fireChannelWritabilityChanged()
      channel.embeddedEventLoop.advanceTime(by: .seconds(9))
      #expect(channel.isActive)
      if takesSomething { channel.flush() }
      channel.embeddedEventLoop.advanceTime(by: .seconds(1))
      #expect(channel.isActive == takesSomething)
      // It goes on watching.
      channel.embeddedEventLoop.advanceTime(by: .seconds(10))
      #expect(!channel.isActive)
    }
  }

  @Test("a client that has taken what there was is not watched any more")
  func writableAgain() throws {
    let channel = EmbeddedChannel(handler: WriteWatch(.seconds(10)))
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    for isWritable in [false, true] {
      channel.isWritable = isWritable
      channel.pipeline.fireChannelWritabilityChanged()
      channel.embeddedEventLoop.advanceTime(by: .seconds(9))
    }
    channel.embeddedEventLoop.advanceTime(by: .seconds(3600))
    #expect(channel.isActive)
    try channel.close().wait()
  }
}

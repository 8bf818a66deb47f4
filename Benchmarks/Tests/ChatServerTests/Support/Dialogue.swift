import NIOCore
import NIOPosix
import Synchronization

/// A connection to a server, as somebody has it who types.
struct Dialogue {
  private struct Ended: Error {}

  private let channel: any Channel
  private let count: Count
  private var iterator: AsyncThrowingStream<String, any Error>.AsyncIterator

  private final class Count: Sendable {
    let lines = Atomic(0)
  }

  /// Whether no line has come so far.
  var hasHeardNothing: Bool { count.lines.load(ordering: .relaxed) == 0 }

  /// Hands on lines; reads only as long as it is to.
  private final class Ear: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let lines: AsyncThrowingStream<String, any Error>.Continuation
    private let count: Count
    private var unread = ByteBuffer()

    init(_ lines: AsyncThrowingStream<String, any Error>.Continuation, _ count: Count) {
      self.lines = lines
      self.count = count
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      var buffer = unwrapInboundIn(data)
      unread.writeBuffer(&buffer)
      while let end = unread.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
        count.lines.add(1, ordering: .relaxed)
        lines.yield(unread.readString(length: end - unread.readerIndex) ?? "")
        unread.moveReaderIndex(forwardBy: 1)
      }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
      lines.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      lines.finish(throwing: error)
    }
  }

  init(port: Int, receiveBuffer: Int? = nil) async throws {
    let (lines, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
    let count = Count()
    self.count = count
    var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Ear(continuation, count))
        }
      }
    if let receiveBuffer {
      bootstrap = bootstrap.channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
    }
    channel = try await bootstrap.connect(host: "127.0.0.1", port: port).get()
    iterator = lines.makeAsyncIterator()
  }

  /// Connects as soon as the server has a place.
  static func whenThereIsPlace(port: Int) async throws -> Dialogue {
    while true {
      var dialogue = try await Dialogue(port: port)
      if try await dialogue.next() == "ok hello, help lists the commands" { return dialogue }
    }
  }

  /// Writes lines without reading what is answered.
  func write(_ lines: String...) async throws {
    let text = lines.map { $0 + "\n" }.joined()
    try await channel.writeAndFlush(ByteBuffer(string: text)).get()
  }

  /// Reads no more, or reads on.
  func setReading(_ isReading: Bool) async throws {
    try await channel.setOption(.autoRead, value: isReading).get()
  }

  /// Says that nothing more will be written.
  func closeOutput() async throws {
    try await channel.close(mode: .output).get()
  }

  /// Goes without a word.
  func close() async throws {
    try await channel.close().get()
  }

  /// The next line.
  mutating func next() async throws -> String {
    guard let line = try await iterator.next() else { throw Ended() }
    return line
  }

  /// All lines up to the first that begins with one of these words.
  mutating func lines(upTo ends: String...) async throws -> [String] {
    var lines: [String] = []
    while true {
      lines.append(try await next())
      if ends.contains(where: { lines.last?.hasPrefix($0) == true }) { return lines }
    }
  }

  /// Writes a line, and reads up to its answer.
  mutating func ask(_ line: String) async throws -> [String] {
    try await write(line)
    return try await lines(upTo: "ok", "no")
  }

  /// Logs in as Ann, who says that many long messages in the room "tea", and is told of each.
  mutating func fillTea(with count: Int) async throws {
    try await write("login ann", "join tea")
    _ = try await lines(upTo: "ok 0")
    for number in 1...count {
      try await write("say tea \(String(repeating: "x", count: 3900))")
      let answer = try await lines(upTo: "ok \(number)")
      // Members are told beside the answer: the message may come after it.
      if !answer.contains(where: { $0.hasPrefix("msg tea \(number) ") }) { _ = try await next() }
    }
  }

  /// All lines to the end.
  mutating func rest() async throws -> [String] {
    var lines: [String] = []
    while let line = try await iterator.next() { lines.append(line) }
    return lines
  }
}

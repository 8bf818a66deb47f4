import DelegationAdapters
import Logging
import NIOCore
import ServiceContextModule

/// A client's connection, which lives on its event loop.
///
/// It reads lines and carries them out one after another, and is a member of the rooms that it joins. A
/// client that does not read what it is sent holds up its own commands and its own messages only.
actor Connection: RoomMember {
  typealias AsyncChannel = NIOAsyncChannel<ByteBuffer, ByteBuffer>
  typealias Inbound = NIOAsyncChannelInboundStream<ByteBuffer>
  typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

  nonisolated let id: Int
  nonisolated let executor: (any TaskExecutor)?
  nonisolated let channel: any Channel
  let chat: Chat
  let logger: Logger
  var user: User?
  /// The rooms that the client is in.
  var rooms: [String: Room] = [:]
  /// The numbers of the messages that are due; 0 in a room whose door is open, for whatever comes first.
  var due: [String: Int] = [:]
  private var outbound: Outbound?
  private var lines = 0
  private var isClosing = false

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    channel.eventLoop.executor.asUnownedSerialExecutor()
  }

  init(id: Int, channel: any Channel, chat: Chat, logger: Logger) {
    self.id = id
    self.channel = channel
    self.chat = chat
    self.logger = logger
    executor = EventLoopTaskExecutor.of(channel.eventLoop)
  }

  // MARK: Reading

  /// Serves the client until it goes, or is told to.
  func run() async {
    do {
      try await open().executeThenClose { inbound, outbound in
        try await self.serve(inbound, outbound)
      }
    } catch {
      logger.debug("a connection ended", metadata: ["id": "\(id)", "error": "\(error)"])
    }
    await leaveAll()
  }

  /// Begins to read.
  ///
  /// - Returns: the channel, which is to be closed by `executeThenClose`: it stops the program if it is
  ///   dropped.
  /// - Throws: if the client has gone meanwhile.
  private func open() throws -> AsyncChannel {
    // On the event loop, so the channel does not close between these lines.
    guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
    let opened = try AsyncChannel(
      wrappingChannelSynchronously: channel,
      configuration: .init(isOutboundHalfClosureEnabled: true))
    channel.setOption(.autoRead, value: true).whenFailure { [channel] _ in
      channel.close(promise: nil)
    }
    return opened
  }

  private func serve(_ inbound: Inbound, _ outbound: Outbound) async throws {
    self.outbound = outbound
    try await send("ok hello, help lists the commands")
    for try await line in inbound {
      // Read and thrown away: an unread byte would make the close a reset, which loses what was sent.
      if isClosing { continue }
      if try await carryOut(line) { break }
    }
    await bidFarewell(within: .seconds(1))
  }

  /// Carries out a line; whether it was the last one.
  private func carryOut(_ line: ByteBuffer) async throws -> Bool {
    lines += 1
    var context = ServiceContext.topLevel
    context.request = "\(id)-\(lines)"
    let answer = await ServiceContext.withValue(context) { await reply(to: String(buffer: line)) }
    guard let answer else { return true }
    try await send(answer)
    return false
  }

  // MARK: Writing

  private func send(_ line: String) async throws {
    try await outbound?.write(ByteBuffer(string: line + "\n"))
  }

  nonisolated func receive(_ message: Message) async throws {
    guard let (missed, outbound) = takeHere(message) else { return }
    if missed > 0 {
      try await outbound.write(ByteBuffer(string: "missed \(message.room) \(missed)\n"))
    }
    try await outbound.write(message.line)
  }

  nonisolated func receiveNow(_ message: Message) {
    guard channel.isWritable else { return }
    channel.writeAndFlush(message.line, promise: nil)
  }

  /// The same on the event loop, where a member is told: without a hop, which would be one more task
  /// for each member and each message.
  private nonisolated func takeHere(_ message: Message) -> (missed: Int, outbound: Outbound)? {
    assumeIsolated { connection in
      guard let outbound = connection.outbound else { return nil }
      return connection.take(message).map { ($0, outbound) }
    }
  }

  /// Notes that a message came; how many before it did not, `nil` for one that does not belong here.
  private func take(_ message: Message) -> Int? {
    guard let number = due[message.room], message.number >= number else { return nil }
    due[message.room] = message.number + 1
    return number == 0 ? 0 : message.number - number
  }

  // MARK: Closing

  /// Takes nothing more, sends what there is to be sent, and waits for the client to go.
  ///
  /// - Parameter duration: how long to wait at most.
  func bidFarewell(within duration: TimeAmount) async {
    guard !isClosing else { return }
    isClosing = true
    let channel = channel
    channel.eventLoop.scheduleTask(in: duration) { channel.close(promise: nil) }
    // When this is on its way, so is all that was written before.
    try? await channel.writeAndFlush(ByteBuffer(string: "bye\n")).get()
    try? await channel.close(mode: .output).get()
  }
}

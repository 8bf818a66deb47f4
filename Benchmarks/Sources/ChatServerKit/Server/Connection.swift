import DelegationAdapters
import Logging
import NIOCore
import ServiceContextModule

/// A client's connection, which lives on its event loop.
///
/// It reads lines and carries them out one after another, and is a member of the rooms that it joins. A
/// client that does not read what it is sent holds up its own commands and its own messages only.
actor Connection: RoomMember {
  typealias Channel = NIOAsyncChannel<ByteBuffer, ByteBuffer>
  typealias Inbound = NIOAsyncChannelInboundStream<ByteBuffer>
  typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

  nonisolated let id: Int
  nonisolated let loopExecutor: EventLoopTaskExecutor
  nonisolated let channel: Channel
  let chat: Chat
  /// How long to wait for the client at the end.
  private let patience: TimeAmount
  let logger: Logger
  var user: User?
  /// The rooms that the client is in.
  var rooms: [String: Room] = [:]
  /// The numbers of the messages that are due; 0 in a room whose door is open, for whatever comes first.
  var due: [String: Int] = [:]
  private var outbound: Outbound?
  private var lines = 0
  private var isClosing = false

  nonisolated var executor: (any TaskExecutor)? { loopExecutor }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    channel.channel.eventLoop.executor.asUnownedSerialExecutor()
  }

  init(id: Int, channel: Channel, chat: Chat, patience: TimeAmount, logger: Logger) {
    self.id = id
    self.channel = channel
    self.chat = chat
    self.patience = patience
    self.logger = logger
    loopExecutor = EventLoopTaskExecutor.of(channel.channel.eventLoop)
  }

  // MARK: Reading

  /// Serves the client until it goes, or is told to.
  func run() async {
    do {
      try await channel.executeThenClose { inbound, outbound in
        try await self.serve(inbound, outbound)
      }
    } catch {
      logger.debug("a connection ended", metadata: ["id": "\(id)", "error": "\(error)"])
    }
    await leaveAll()
  }

  private func serve(_ inbound: Inbound, _ outbound: Outbound) async throws {
    self.outbound = outbound
    try await send("ok hello, help lists the commands")
    for try await line in inbound {
      // Read and thrown away: an unread byte would make the close a reset, which loses what was sent.
      if isClosing { continue }
      if try await carryOut(line) { break }
    }
    await bidFarewell()
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
    // Many messages may come in a row, and none of them need wait for anything.
    await loopExecutor.giveWay()
    guard let (missed, outbound) = takeHere(message) else { return }
    if missed > 0 {
      try await outbound.write(ByteBuffer(string: "missed \(message.room) \(missed)\n"))
    }
    try await outbound.write(message.line)
  }

  nonisolated func receiveNow(_ message: Message) {
    let channel = channel.channel
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

  /// Takes nothing more, sends what there is to be sent, and waits for the client to go, for a time.
  func bidFarewell() async {
    guard !isClosing else { return }
    isClosing = true
    let channel = channel.channel
    channel.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
    // When this is on its way, so is all that was written before.
    try? await channel.writeAndFlush(ByteBuffer(string: "bye\n")).get()
    try? await channel.close(mode: .output).get()
  }
}

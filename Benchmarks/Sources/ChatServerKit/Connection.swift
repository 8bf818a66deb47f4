import Delegation
import DelegationAdapters
import NIOCore

/// A client: obeys its lines one after another, and hears what is said in its rooms.
final class Connection: RoomMember {
  typealias Writer = NIOAsyncChannelOutboundWriter<ByteBuffer>

  private let chat: Chat
  private let channel: any Channel
  private let writer: Writer
  private let loop: EventLoopTaskExecutor

  init(_ chat: Chat, _ channel: any Channel, _ writer: Writer) {
    self.chat = chat
    self.channel = channel
    self.writer = writer
    loop = EventLoopTaskExecutor.of(channel.eventLoop)
  }

  func hear(_ line: String) async throws {
    await loop.giveWay()
    do {
      // Suspends while the client does not read.
      try await writer.write(ByteBuffer(string: "\(line)\n"))
    } catch {
      // That a client has gone, or has said goodbye, is no failure: its connection ends.
      if channel.isActive, !(error is NIOAsyncWriterError) { throw error }
    }
  }

  /// What the connection's event loop guards may be used where it runs.
  var executor: (any TaskExecutor)? { loop }

  func giveUp() { channel.close(promise: nil) }

  /// Obeys a client's lines until there are no more.
  func run(_ lines: NIOAsyncChannelInboundStream<String>) async {
    var name: String?
    var malformed = 0
    let greeting = channel.eventLoop.scheduleTask(in: TimeAmount(chat.limits.greeting)) {
      [channel] in channel.close(promise: nil)
    }
    defer { greeting.cancel() }
    do {
      for try await line in lines {
        let command = Command(line)
        if case .quit = command { break }
        if case .malformed = command { malformed += 1 } else { malformed = 0 }
        // Nothing but nonsense comes, and each answer takes a turn that others could have.
        if malformed > chat.limits.malformed { break }
        try await answer(command, &name)
        if name != nil { greeting.cancel() }
        // Who has said a thousand things has no more turns than others.
        await Task.yield()
      }
      try await write("bye")
    } catch is LineDecoder.TooLong {
      try? await write("no that line is too long")
    } catch {
      // The client has gone, or the server has closed the connection.
    }
    if let name { await chat.exit(as: name) }
  }

  private func answer(_ command: Command, _ name: inout String?) async throws {
    if case .name(let wanted) = command {
      guard name == nil else { return try await write("no you have a name") }
      let answer = chat.enter(as: wanted, self)
      if answer == .done { name = wanted }
      return try await write(answer)
    }
    if case .malformed(let text) = command { return try await write("no \(text)") }
    if case .help = command { return try await write("ok \(Command.list)") }
    guard let name else { return try await write("no say who you are: name NAME") }
    switch command {
    case .join(let room): try await write(await chat.join(room, as: name))
    case .leave(let room): try await write(await chat.leave(room, as: name))
    case .say(let room, let text): try await write(await chat.say(text, in: room, as: name))
    default: break
    }
  }

  private func write(_ answer: Chat.Answer) async throws {
    switch answer {
    case .done: try await write("ok")
    case .refused(let reason): try await write("no \(reason)")
    }
  }

  private func write(_ line: String) async throws {
    try await writer.write(ByteBuffer(string: "\(line)\n"))
  }
}

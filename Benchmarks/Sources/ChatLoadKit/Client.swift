import NIOCore

/// A client that behaves: it says things in its room, and checks and times what it hears.
///
/// It belongs to its event loop.
final class Client: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  /// Stands for a message of somebody who is not being measured.
  static let foreign = UInt64.max

  private enum Expected {
    case greeting, logIn, join
    case message(UInt64, isUnwelcome: Bool)
  }

  let name: String
  let room: RoomRecord
  let tally: LoopTally
  private let index: Int
  private var context: ChannelHandlerContext?
  private var unread: ByteBuffer?
  private var expected: CircularBuffer<Expected> = [.greeting, .logIn, .join]
  private var joined: EventLoopPromise<Void>?
  private(set) var said: UInt64 = 0
  /// The number of the last message heard.
  private(set) var heard = 0
  private(set) var isReady = false
  private(set) var hasBye = false
  private(set) var isClosed = false
  /// Whether it says something new as soon as it has heard its last.
  var isChained = false

  /// Whether it has had all answers.
  var isAnswered: Bool { expected.isEmpty }

  init(index: Int, room: RoomRecord, tally: LoopTally, joined: EventLoopPromise<Void>) {
    self.index = index
    self.room = room
    self.tally = tally
    self.joined = joined
    name = "client\(index)"
  }

  // MARK: Saying

  /// Says something that was due at a time.
  func say(due: UInt64) {
    guard let context, isReady, !isClosed else { return }
    said += 1
    tally.sent += 1
    let isUnwelcome = tally.isNextUnwelcome()
    let message = UInt64(index) << 32 | said
    expected.append(.message(message, isUnwelcome: isUnwelcome))
    let words = isUnwelcome ? "cheap spam" : "something to say, as long as people write"
    let line = "say \(room.name) m \(message) \(due) \(words)\n"
    context.writeAndFlush(NIOAny(ByteBuffer(string: line)), promise: nil)
  }

  // MARK: Hearing

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    let lines = "login \(name)\njoin \(room.name)\n"
    context.writeAndFlush(NIOAny(ByteBuffer(string: lines)), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    self.context = nil
    isClosed = true
    joined?.fail(ChannelError.eof)
    joined = nil
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed { context.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var buffer = unwrapInboundIn(data)
    if var unread {
      unread.writeBuffer(&buffer)
      buffer = unread
    }
    let now = NIODeadline.now().uptimeNanoseconds
    let length = buffer.withUnsafeReadableBytes { bytes in
      var start = bytes.startIndex
      while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
        hear(bytes[start..<end], at: now)
        start = end + 1
      }
      return start
    }
    buffer.moveReaderIndex(forwardBy: length)
    unread = buffer.readableBytes > 0 ? buffer : nil
  }

  private func hear(_ line: UnsafeRawBufferPointer.SubSequence, at now: UInt64) {
    var words = Words(line)
    let verb = words.next()
    if verb.elementsEqual("msg".utf8) {
      hearMessage(&words, at: now)
    } else if verb.elementsEqual("ok".utf8) {
      hearAnswer(words.nextNumber())
    } else if verb.elementsEqual("no".utf8) {
      hearRefusal(words.remainder)
    } else if verb.elementsEqual("bye".utf8) {
      hasBye = true
    } else {
      room.complain("\(name) heard \"\(String(decoding: line, as: UTF8.self))\"")
    }
  }

  private func hearMessage(_ words: inout Words, at now: UInt64) {
    _ = words.next()
    guard let number = words.nextNumber().map(Int.init) else {
      return room.complain("\(name) heard a message without a number")
    }
    let sender = words.next()
    if heard > 0 || isReady, number != heard + 1 {
      room.complain("\(name) heard \(room.name) \(number) after \(heard)")
    }
    heard = number
    guard words.next().elementsEqual("m".utf8), let message = words.nextNumber(),
      let due = words.nextNumber()
    else {
      room.note(Self.foreign, at: number, by: name, now: now)
      return
    }
    let senderIndex = Int(message >> 32)
    if !sender.elementsEqual("client\(senderIndex)".utf8) {
      room.complain("\(name) heard \(room.name) \(number) from somebody who did not say it")
    }
    let first = room.note(message, at: number, by: name, now: now)
    tally.hear(after: now > due ? now - due : 0, behindFirst: now - first)
    if isChained, senderIndex == index { say(due: now) }
  }

  private func hearAnswer(_ number: UInt64?) {
    switch expected.popFirst() {
    case .join:
      if heard == 0 { heard = Int(number ?? 0) }
      isReady = true
      joined?.succeed()
      joined = nil
    case .message(let message, let isUnwelcome):
      if isUnwelcome { room.complain("\(name) was allowed to say what is not welcome") }
      room.accept(message, at: Int(number ?? 0))
      tally.accepted += 1
    case .greeting, .logIn: break
    case nil: room.complain("\(name) had an answer to nothing")
    }
  }

  private func hearRefusal(_ reason: String) {
    switch expected.popFirst() {
    case .message(_, let isUnwelcome):
      if isUnwelcome { tally.refusedRightly += 1 } else { tally.refused[reason, default: 0] += 1 }
      if isChained { say(due: NIODeadline.now().uptimeNanoseconds) }
    default:
      room.complain("\(name) was refused: \(reason)")
      joined?.fail(LoadError("the server refused: \(reason)"))
      joined = nil
    }
  }
}

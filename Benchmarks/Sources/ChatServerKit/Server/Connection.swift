import CoreMetrics
import DelegationAdapters
import Logging
import NIOCore
import ServiceContextModule
import Synchronization

/// A client's connection, which lives on its event loop.
///
/// It reads lines and carries them out one after another, and is a member of the rooms that it joins. A
/// client that does not read what it is sent holds up its own commands and its own messages only.
actor Connection: RoomMember {
  typealias Channel = NIOAsyncChannel<ByteBuffer, ByteBuffer>
  typealias Inbound = NIOAsyncChannelInboundStream<ByteBuffer>
  typealias Outbound = NIOAsyncChannelOutboundWriter<ByteBuffer>

  /// What a client may not do for longer, or more often.
  struct Limits: Sendable {
    /// How long to wait for the client at the end.
    let patience: TimeAmount
    let logInTime: TimeAmount
    let idleTime: TimeAmount
    let logIns: Int
    let refusalTime: TimeAmount
    let linesPerSecond: Int
    let lineLength: Int

    init(_ configuration: ServerConfiguration) {
      patience = TimeAmount(configuration.farewellTime)
      logInTime = TimeAmount(configuration.logInTime)
      idleTime = TimeAmount(configuration.idleTime)
      logIns = configuration.logInLimit
      refusalTime = TimeAmount(configuration.refusalTime)
      linesPerSecond = configuration.linesPerSecond
      lineLength = configuration.lineLimit
    }
  }

  nonisolated let id: Int
  nonisolated let loopExecutor: EventLoopTaskExecutor
  nonisolated let channel: Channel
  let chat: Chat
  let limits: Limits
  var user: User?
  /// The rooms that the client is in.
  var rooms: [String: Room] = [:]
  /// What it is to hear next in them.
  ///
  /// Rooms tell it, so it has a lock.
  nonisolated let dues = Mutex(Dues())
  private var idle: IdleLimit
  private var allowance: Allowance
  private var isHeld = false
  private var look: Scheduled<Void>?
  private var logIns = 0
  private var outbound: Outbound?
  private var lines = 0
  private var isClosing = false
  /// Whether a line is being carried out.
  private var isBusy = false
  /// Why the client has to go, if it does not go by itself.
  private var reason: String?

  /// Who it is, for those who look at the hubs.
  nonisolated let label: Mutex<String>
  nonisolated let address: String

  nonisolated var name: String { label.withLock { $0 } }

  nonisolated var executor: (any TaskExecutor)? { loopExecutor }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    channel.channel.eventLoop.executor.asUnownedSerialExecutor()
  }

  init(id: Int, channel: Channel, chat: Chat, limits: Limits) {
    self.id = id
    self.channel = channel
    self.chat = chat
    self.limits = limits
    address = channel.channel.remoteAddress?.ipAddress ?? "unknown"
    label = Mutex("connection \(id)")
    allowance = Allowance(perSecond: limits.linesPerSecond, at: .now)
    idle = IdleLimit(at: .now(), logInTime: limits.logInTime, idleTime: limits.idleTime)
    loopExecutor = EventLoopTaskExecutor.of(channel.channel.eventLoop)
  }

  // MARK: Reading

  /// Serves the client until it goes, or is told to.
  func run() async {
    watch()
    do {
      try await channel.executeThenClose { inbound, outbound in
        try await self.serve(inbound, outbound)
      }
    } catch {
      report(.debug, "a connection failed", ["error": "\(error)"])
    }
    look?.cancel()
    await leaveAll()
  }

  private func serve(_ inbound: Inbound, _ outbound: Outbound) async throws {
    self.outbound = outbound
    if !isClosing { try await send("ok hello, help lists the commands") }
    var splitter = LineSplitter(limit: limits.lineLength)
    for try await bytes in inbound {
      // Read and thrown away: an unread byte would make the close a reset, which loses what was sent.
      if isClosing { continue }
      splitter.append(bytes)
      do {
        while !isClosing, let line = try splitter.next() { try await carryOut(line) }
      } catch let refusal as Refusal {
        await bidFarewell(refusal.reason)
      }
    }
    if !isClosing, let line = splitter.last() { try await carryOut(line) }
    await bidFarewell()
  }

  /// Waits until the client may have a line carried out.
  ///
  /// Meanwhile nothing is read from it, and the event loop has time for others.
  private func waitForAllowance() async {
    while let wait = allowance.take(at: .now) {
      chat.heldLines.increment()
      if !isHeld { report(.notice, "a client writes more lines than it may") }
      isHeld = true
      await pause(for: TimeAmount(wait))
    }
  }

  /// Waits, and lets the event loop serve others.
  func pause(for time: TimeAmount) async {
    try? await channel.channel.eventLoop.scheduleTask(in: time) {}.futureResult.get()
  }

  /// Logs what an operator may want to know of a client.
  func report(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata = [:]) {
    chat.faults.report(
      level, message,
      metadata: metadata.merging([
        "id": "\(id)", "address": "\(address)",
      ]) { $1 })
  }

  /// Carries out a line, and answers it.
  private func carryOut(_ line: String) async throws {
    // Any web page may have a browser send commands in the body of a request.
    if lines == 0, line.isRequestLine { return await bidFarewell("this is no web server") }
    await waitForAllowance()
    if isClosing { return }
    isBusy = true
    lines += 1
    idle.hear(at: .now())
    var context = ServiceContext.topLevel
    context.request = "\(id)-\(lines)"
    let answer = await ServiceContext.withValue(context) { await reply(to: line) }
    if let answer { try await send(answer) }
    isBusy = false
    // Told to go meanwhile: the answer comes first.
    if isClosing { await sayBye() } else if answer == nil { await bidFarewell(reason) }
  }

  /// Whether the client may try to log in once more; if not, it has to go.
  func takeLogIn() -> Bool {
    logIns += 1
    if logIns > limits.logIns { reason = "you have tried to log in too often" }
    return logIns <= limits.logIns
  }

  func noteLogIn() {
    idle.logIn(at: .now())
    // The time may be up sooner than it was.
    look?.cancel()
    watch()
  }

  /// Waits on the event loop until the client's time is up.
  private func watch() {
    look = channel.channel.eventLoop.scheduleTask(deadline: idle.deadline) { [weak self] in
      self?.assumeIsolated { $0.lookAtClock() }
    }
  }

  private func lookAtClock() {
    guard NIODeadline.now() >= idle.deadline else { return watch() }
    let reason = idle.reason
    Task { await bidFarewell(reason) }
  }

  // MARK: Writing

  func send(_ line: String) async throws {
    try await outbound?.write(ByteBuffer(string: line + "\n"))
  }

  nonisolated func expect(_ number: Int, after bytes: Int, in room: Int) {
    dues.withLock { $0.expect(number, after: bytes, in: room) }
  }

  nonisolated func taken(in room: Int) -> Int {
    dues.withLock { $0.taken(in: room) }
  }

  nonisolated func receive(_ message: Message) async throws {
    // Many messages may come in a row, and none of them need wait for anything.
    await loopExecutor.giveWay()
    guard let outbound = outboundHere, let missed = dues.withLock({ $0.take(message) }) else {
      return
    }
    var line = message.line
    if missed > 0 {
      line = ByteBuffer(string: "missed \(message.room) \(missed)\n")
      line.writeImmutableBuffer(message.line)
    }
    try await outbound.write(line)
    while let missed = dues.withLock({ $0.finish(in: message.roomID) }) {
      try await outbound.write(ByteBuffer(string: "missed \(message.room) \(missed)\n"))
    }
  }

  /// Where to write, read on the event loop, where a member is told: without a hop, which would be one more task for
  /// each member and each message.
  private nonisolated var outboundHere: Outbound? { assumeIsolated { $0.outbound } }

  nonisolated func receiveNow(_ message: Message) {
    let channel = channel.channel
    guard channel.isWritable else { return }
    channel.writeAndFlush(message.line, promise: nil)
  }

  // MARK: Closing

  /// Takes nothing more, sends what there is to be sent, and waits for the client to go, for a time.
  ///
  /// - Parameter reason: why it has to go, for the client.
  func bidFarewell(_ reason: String? = nil) async {
    guard !isClosing else { return }
    isClosing = true
    self.reason = reason
    let channel = channel.channel
    channel.eventLoop.scheduleTask(in: limits.patience) { channel.close(promise: nil) }
    // Otherwise the line that is being carried out has its answer first.
    if !isBusy { await sayBye() }
  }

  private func sayBye() async {
    let channel = channel.channel
    // When this is on its way, so is all that was written before.
    let line = Farewell.LastLine(line: reason.map { "bye \($0)" } ?? "bye")
    try? await channel.triggerUserOutboundEvent(line).get()
    try? await channel.close(mode: .output).get()
  }
}

extension String {
  /// Whether it is how a request of HTTP begins: no command is in capitals.
  fileprivate var isRequestLine: Bool {
    let words = split(separator: " ", omittingEmptySubsequences: false)
    return words.count == 3 && words[0].allSatisfy(\.isUppercase) && words[2].hasPrefix("HTTP/1.")
  }
}

import NIOCore
import NIOHTTP1

/// Answers the one request of a connection: with the page, with events until the viewer goes, or with why not.
final class PageHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  /// The times that a connection has.
  struct Patience {
    /// For a request to be there.
    var request = TimeAmount.seconds(2)
    /// For an answer to be taken.
    var answer = TimeAmount.seconds(10)
    /// For a viewer that takes nothing of what it is sent.
    var viewer = TimeAmount.seconds(10)
    /// For a client to go after its answer.
    var farewell = TimeAmount.seconds(1)
  }

  private enum State {
    case reading
    /// What is to be answered once the request is over.
    case decided(PageRules.Answer)
    case viewing
    /// Something is being made for the answer.
    case preparing
    case answered
  }

  private let rules: PageRules
  private let document: PageDocument
  private let viewers: Viewers
  private let snapshot: @Sendable () async -> ByteBuffer
  private let texts: [String: @Sendable () async -> String]
  private let patience: Patience
  private var state = State.reading
  /// Whether an answer is to have no body.
  private var isHead = false
  private var timer: Scheduled<Void>?
  /// The last frame that was written; `nil` for none.
  private var lastFrame: Int?
  /// How much waited to be taken at the last look, and since when it has not become less.
  private var unsent = 0
  private var stillSince = NIODeadline.now()

  init(
    rules: PageRules, document: PageDocument, viewers: Viewers, patience: Patience,
    snapshot: @escaping @Sendable () async -> ByteBuffer,
    texts: [String: @Sendable () async -> String] = [:]
  ) {
    self.rules = rules
    self.document = document
    self.viewers = viewers
    self.snapshot = snapshot
    self.texts = texts
    self.patience = patience
  }

  func handlerAdded(context: ChannelHandlerContext) {
    close(context, in: patience.request)
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch (unwrapInboundIn(data), state) {
    case (.head(let head), .reading):
      isHead = head.method == .HEAD
      let answer = rules.answer(to: head)
      if case .refusal = answer { return respond(answer, context) }
      state = .decided(answer)
    case (.end, .decided(let answer)): respond(answer, context)
    // One request is answered; a body has been refused with the head.
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch state {
    case .reading, .decided:
      let isLong = error is InputLimit.Exceeded
      respond(
        isLong
          ? .refusal(.requestHeaderFieldsTooLarge, "a request may have 8,192 bytes")
          : .refusal(.badRequest, "that is no request"), context)
    case .viewing, .preparing, .answered: context.close(promise: nil)
    }
  }

  private func respond(_ answer: PageRules.Answer, _ context: ChannelHandlerContext) {
    switch answer {
    case .page:
      let (text, policy) = document.rendered()
      finish(.ok, text, [("Content-Type", "text/html; charset=utf-8"), policy], context)
    case .events: beginViewing(context)
    case .snapshot: prepare("application/json", snapshot, context)
    case .text(let path):
      let text = texts[path]
      prepare(
        "text/plain; charset=utf-8", { ByteBuffer(string: await text?() ?? "") }, context)
    case .refusal(let status, let text):
      var headers = [("Content-Type", "text/plain; charset=utf-8")]
      if status == .methodNotAllowed { headers.append(("Allow", "GET, HEAD")) }
      finish(status, ByteBuffer(string: text + "\n"), headers, context)
    }
  }

  /// Answers with something that has to be made first.
  private func prepare(
    _ type: String, _ body: @escaping @Sendable () async -> ByteBuffer,
    _ context: ChannelHandlerContext
  ) {
    state = .preparing
    close(context, in: patience.answer)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.eventLoop.makeFutureWithTask(body).whenSuccess { text in
      let (handler, context) = bound.value
      guard context.channel.isActive else { return }
      handler.finish(.ok, text, [("Content-Type", type)], context)
    }
  }

  private func head(
    _ status: HTTPResponseStatus, _ headers: [(String, String)]
  ) -> HTTPServerResponsePart {
    let common = [
      ("Cache-Control", "no-store"), ("Connection", "close"), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return .head(.init(version: .http1_1, status: status, headers: .init(headers + common)))
  }

  /// Writes an answer, and lets the client go.
  private func finish(
    _ status: HTTPResponseStatus, _ body: ByteBuffer, _ headers: [(String, String)],
    _ context: ChannelHandlerContext
  ) {
    state = .answered
    close(context, in: patience.answer)
    let headers = headers + [("Content-Length", "\(body.readableBytes)")]
    context.write(wrapOutboundOut(head(status, headers)), promise: nil)
    if !isHead { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(.end(nil))).whenSuccess {
      let (handler, context) = bound.value
      // To close both sides while input is unread would have the client's system throw the answer away.
      context.close(mode: .output, promise: nil)
      handler.close(context, in: handler.patience.farewell)
    }
  }

  private func beginViewing(_ context: ChannelHandlerContext) {
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    let eventLoop = context.eventLoop
    let viewer = Viewers.Viewer { frame in
      eventLoop.execute {
        let (handler, context) = bound.value
        handler.take(frame, context)
      }
    }
    let place = viewers.add(viewer, on: context.channel)
    // Told to look no more, so that it does not come back by itself and take another's place.
    place.formerly?.offer(.farewell)
    guard place.isTaken else { return context.close(promise: nil) }
    state = .viewing
    timer?.cancel()
    stillSince = .now()
    let headers = [("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")]
    context.write(wrapOutboundOut(head(.ok, headers)), promise: nil)
    write(ByteBuffer(string: "retry: 1000\n\n"), context)
    context.flush()
  }

  /// Sends a frame, unless the viewer has yet to take the one before.
  private func take(_ frame: Frame, _ context: ChannelHandlerContext) {
    guard case .viewing = state, context.channel.isActive else { return }
    if frame.number == Frame.farewell.number {
      write(frame.news, context)
      context.flush()
      return context.close(promise: nil)
    }
    let before = unsent
    unsent = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    if unsent == 0 || unsent < before { stillSince = .now() }
    if unsent > 0 {
      if NIODeadline.now() - stillSince >= patience.viewer { context.close(promise: nil) }
      return
    }
    guard let buffers = frame.buffers(after: lastFrame) else { return viewers.wantAll() }
    lastFrame = frame.number
    for buffer in buffers { write(buffer, context) }
    context.flush()
    unsent = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  private func write(_ buffer: ByteBuffer, _ context: ChannelHandlerContext) {
    if buffer.readableBytes == 0 { return }
    context.write(wrapOutboundOut(.body(.byteBuffer(buffer))), promise: nil)
  }

  /// Closes the connection after a time, whatever was to close it before.
  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    timer?.cancel()
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: time) { bound.value.close(promise: nil) }
  }
}

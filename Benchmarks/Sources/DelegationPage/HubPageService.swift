public import Delegation
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
public import ServiceLifecycle
import Synchronization

/// Serves a page that shows hubs while they run: what is wrong, since when, for whom and why, then each subscriber.
///
/// `/json` has a ``PageState``, for scripts. The page asks for it every second while it is visible.
///
/// Whoever can connect can read it: names of types and ids, places in the source, and the texts of errors. So it listens
/// on the loopback address unless told otherwise. There it answers only requests whose `Host` is that, so that no other
/// site can read it through a browser. It has a thread of its own and few connections, each for one short request: what
/// is done to the page holds up nothing else.
///
/// List it in a `ServiceGroup` before what drains the hubs: then it is stopped later, and shows the drain.
public struct HubPageService: Service {
  private let page: HubPage
  private let host: String
  private let port: Int
  private let needs: [HubPage.Need]
  private let onListening: @Sendable (Int) -> Void
  private let hubs: @Sendable () -> [(name: String, hub: DelegateHub)]

  /// Makes a service.
  ///
  /// - Parameters:
  ///   - page: what the hubs report to.
  ///   - host: the address to listen on.
  ///   - port: the port; 0 for any that is free.
  ///   - needs: the protocols to which somebody has to be subscribed.
  ///   - onListening: is told the port.
  ///   - hubs: the hubs that there are at a time, each with a name to show.
  public init(
    _ page: HubPage, host: String = "127.0.0.1", port: Int = 0, needs: [HubPage.Need] = [],
    onListening: @escaping @Sendable (Int) -> Void = { _ in },
    hubs: @escaping @Sendable () -> [(name: String, hub: DelegateHub)]
  ) {
    self.page = page
    self.host = host
    self.port = port
    self.needs = needs
    self.onListening = onListening
    self.hubs = hubs
  }

  /// Serves until the group shuts down.
  ///
  /// - Throws: an error that names address and port if it cannot listen there.
  public func run() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for need in needs {
        group.addTask { [page] in
          await need.follow { page.note(need: need.name, isMet: $0) }
        }
      }
      try await MultiThreadedEventLoopGroup.withEventLoopGroup(numberOfThreads: 1) { loops in
        let server = try await listen(loops)
        if let port = server.localAddress?.port { onListening(port) }
        // If the group is cancelled in place of a shutdown, it ends as well.
        try? await gracefulShutdown()
        try await server.close()
      }
      group.cancelAll()
    }
  }

  private func listen(_ loops: MultiThreadedEventLoopGroup) async throws -> any Channel {
    let connections = Connections()
    let bootstrap = ServerBootstrap(group: loops)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      // Who has asked may close that way at once.
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { [self] channel in
        channel.eventLoop.makeCompletedFuture {
          try connections.admit(channel)
          var limits = NIOHTTPDecoderLimitConfiguration()
          (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (8192, 8192)
          try channel.pipeline.syncOperations.addHandlers([
            HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)),
            PageHandler { response(to: $0) },
          ])
        }
      }
    do { return try await bootstrap.bind(host: host, port: port).get() } catch {
      throw Failure(description: "the page cannot be served at \(host), port \(port): \(error)")
    }
  }

  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private func response(to request: HTTPRequestHead) -> PageHandler.Response {
    let method = request.method == .HEAD ? .GET : request.method
    switch (method, request.uri.prefix { $0 != "?" }) {
    case (.GET, "/"):
      return .init(.ok, "text/html; charset=utf-8", Data(PackageResources.page_html))
    case (.GET, "/json"):
      guard isAllowed(request) else { return .init(.forbidden) }
      for need in needs { page.note(need: need.name, isMet: need.isMet()) }
      guard let state = try? JSONEncoder().encode(page.look(at: hubs())) else {
        return .init(.internalServerError)
      }
      return .init(.ok, "application/json", state)
    case (.POST, "/seen"):
      // A form of another site cannot set a header.
      guard isAllowed(request), request.headers.contains(name: "X-Page") else {
        return .init(.forbidden)
      }
      page.acknowledge()
      return .init(.noContent)
    default: return .init(.notFound)
    }
  }

  /// Whether a request comes from a page of this server, or from a script, and not from another site's page.
  private func isAllowed(_ request: HTTPRequestHead) -> Bool {
    guard host.hasPrefix("127.") || ["localhost", "::1"].contains(host) else { return true }
    let names = request.headers["Host"].map { $0.lowercased().replacing(/:\d*$/, with: "") }
    return names.count == 1 && ["localhost", host, "[\(host)]"].contains(names[0])
  }
}

/// How many connections there are.
private final class Connections: Sendable {
  struct TooMany: Error {}

  private let count = Atomic(0)

  func admit(_ channel: any Channel) throws {
    let number = count.wrappingAdd(1, ordering: .relaxed).newValue
    channel.closeFuture.whenComplete { _ in self.count.wrappingSubtract(1, ordering: .relaxed) }
    if number > 100 { throw TooMany() }
  }
}

/// Answers one request, and closes the connection; also if the request has not come, or its answer has not gone, in ten
/// seconds.
private final class PageHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  struct Response {
    let status: HTTPResponseStatus
    let type: String
    let body: Data

    init(_ status: HTTPResponseStatus, _ type: String = "text/plain", _ body: Data = Data()) {
      (self.status, self.type, self.body) = (status, type, body)
    }
  }

  private let respond: (HTTPRequestHead) -> Response
  private var (isAnswered, isHead) = (false, false)
  private var deadline: Scheduled<Void>?

  init(_ respond: @escaping (HTTPRequestHead) -> Response) { self.respond = respond }

  func channelActive(context: ChannelHandlerContext) {
    deadline = context.eventLoop.scheduleTask(in: .seconds(10)) { [channel = context.channel] in
      channel.close(promise: nil)
    }
  }

  func channelInactive(context: ChannelHandlerContext) { deadline?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let request) = Self.unwrapInboundIn(data), !isAnswered else { return }
    isHead = request.method == .HEAD
    answer(respond(request), context)
  }

  /// What is no request, or is too long.
  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if isAnswered { context.close(promise: nil) } else { answer(Response(.badRequest), context) }
  }

  private func answer(_ response: Response, _ context: ChannelHandlerContext) {
    isAnswered = true
    var headers: HTTPHeaders = [
      "Content-Type": response.type, "Cache-Control": "no-store", "Connection": "close",
      "Content-Security-Policy":
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
    ]
    if response.status != .noContent {
      headers.add(name: "Content-Length", value: "\(response.body.count)")
    }
    let head = HTTPResponseHead(version: .http1_1, status: response.status, headers: headers)
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    let body = ByteBuffer(bytes: response.body)
    if !isHead { context.write(Self.wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
    let (channel, end) = (context.channel, Self.wrapOutboundOut(.end(nil)))
    context.writeAndFlush(end).whenComplete { _ in channel.close(promise: nil) }
  }
}

public import Delegation
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import ServiceLifecycle

/// Serves a page that shows hubs while they run.
///
/// It shows, per protocol and subscriber, what is notified and asked, what waits, what was dropped, failed or
/// late, which handlers run and for how long, and the last incidents: what is wrong first. It updates by itself, and asks
/// for nothing from elsewhere. `/json` has the same, with names, for scripts; `runningFor` counts from
/// the first look that saw the handler, by page or script.
///
/// While nobody looks it listens, and takes the hubs' statistics every ten seconds, for the sums of the last hour. While
/// somebody does, it takes them twice a second, once for all viewers.
///
/// List it in a `ServiceGroup` before what drains the hubs: then it is stopped later, and shows the drain.
///
/// ```swift
/// let watch = HubWatch()
/// let hub = DelegateHub(.init(onIncident: { watch.note($0) }, interceptors: [watch]))
/// let page = HubPageService(watch: watch, logger: logger) { [("orders", hub)] }
/// let group = ServiceGroup(
///   services: [page, DrainService(hub, within: .seconds(5), logger: logger), listener],
///   gracefulShutdownSignals: [.sigterm], logger: logger)
/// ```
///
/// Whoever can connect can read it: names of types and ids, places in the source, and the descriptions of
/// errors. It has no data of notifications and questions. So by default it listens on the loopback address
/// only, and then answers only requests whose `Host` is that, so that no other site can read it through a
/// viewer's browser.
public struct HubPageService: Service {
  /// Something wrong that hubs cannot tell.
  public struct Trouble: Sendable {
    let who: String
    let what: String
    let since: ContinuousClock.Instant

    /// Makes a trouble.
    ///
    /// - Parameters:
    ///   - who: what it is about.
    ///   - what: what is wrong with it, in a few words.
    ///   - since: since when.
    public init(_ who: String, _ what: String, since: ContinuousClock.Instant) {
      self.who = who
      self.what = what
      self.since = since
    }
  }

  /// Where a page is, and how many may look at it.
  public struct Configuration: Sendable {
    /// The address to listen on.
    ///
    /// On another one than the loopback address everybody who can reach it may look.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for any that is free.
    public var port = 0
    /// The time between two samples.
    ///
    /// If one takes longer than a tenth of it, the time is ten times as long as that.
    public var interval = Duration.milliseconds(500)
    /// The time between two samples of the sums of the last hour, of which 360 are kept.
    ///
    /// If one takes longer than a thousandth of it, the time is a thousand times as long as that.
    public var historyInterval = Duration.seconds(10)
    /// How many notifications may wait for a subscriber of a protocol, to be shown beside how many do.
    ///
    /// By the protocol's name with its module, as in `"Shop.OrderDelegate"`.
    public var mailboxLimits: [String: Int] = [:]
    /// Texts of the program's own beside the page, each by its path, as in `"/metrics"`.
    ///
    /// Whoever can connect can read them. Each is made anew for each request, and answers within ten seconds or not at
    /// all.
    public var texts: [String: @Sendable () async -> String] = [:]
    /// What is wrong as the program itself knows; it is shown first, and called for each sample.
    public var troubles: @Sendable () -> [Trouble] = { [] }
    /// How many viewers there may be at a time; for a further one the oldest has to go.
    public var viewerLimit = 16
    /// How many descriptors the page may have open: for its viewers, for others, and to listen.
    public var descriptorLimit: Int { viewerLimit + Viewers.otherLimit + 2 }

    /// Makes the default settings.
    public init() {}
  }

  private let configuration: Configuration
  private let watch: HubWatch?
  private let logger: Logger
  private let onListening: @Sendable (Int) -> Void
  private let hubs: @Sendable () async -> [(name: String, hub: DelegateHub)]
  let viewers: Viewers
  private let history = PageHistory()
  var patience = PageHandler.Patience()

  /// Makes a page of hubs that come and go.
  ///
  /// - Parameters:
  ///   - configuration: where the page is.
  ///   - watch: what the hubs tell of incidents and handlers; `nil` for a page without them.
  ///   - logger: is told where the page is.
  ///   - onListening: is told the port, once there is one.
  ///   - hubs: the hubs that there are at a time, each with a name to show. It is called for each sample.
  public init(
    _ configuration: Configuration = Configuration(), watch: HubWatch? = nil, logger: Logger,
    onListening: @escaping @Sendable (Int) -> Void = { _ in },
    hubs: @escaping @Sendable () async -> [(name: String, hub: DelegateHub)]
  ) {
    self.configuration = configuration
    self.watch = watch
    self.logger = logger
    self.onListening = onListening
    self.hubs = hubs
    viewers = Viewers(limit: configuration.viewerLimit)
  }

  /// Listens, for those who want to know before anything else begins that the port is free.
  ///
  /// Otherwise ``run()`` does so. Those who connect before that wait.
  ///
  /// - Throws: ``HubPageError`` if it cannot listen.
  public func bind() async throws {
    if viewers.server == nil { viewers.serve(on: try await listen()) }
  }

  /// Serves the page until the group shuts down; then all viewers are disconnected.
  ///
  /// - Throws: ``HubPageError`` if it cannot listen.
  public func run() async throws {
    try await bind()
    guard let server = viewers.server else { return }
    let viewers = viewers
    let port = server.localAddress?.port ?? configuration.port
    logger.info("a page shows the hubs", metadata: ["url": "http://\(configuration.host):\(port)/"])
    onListening(port)
    await cancelWhenGracefulShutdown {
      await withTaskCancellationHandler {
        async let _: Void = remember()
        for await _ in viewers.beginnings {
          if let watch { await watch.looking { await show() } } else { await show() }
        }
      } onCancel: {
        server.close(promise: nil)
      }
    }
  }

  /// Samples for as long as somebody looks.
  private func show() async {
    let clock = ContinuousClock()
    var sampler = Sampler(limits: configuration.mailboxLimits)
    while viewers.count > 0, !Task.isCancelled {
      let start = clock.now
      let hasAll = viewers.takeWish()
      let samples = await sample()
      let report = watch?.report(since: hasAll ? 0 : sampler.incidents) ?? .init()
      viewers.send(
        sampler.frame(
          of: samples, report, at: clock.now, withAll: hasAll, history: hasAll ? history.all : [],
          troubles: configuration.troubles()))
      let pause = max(configuration.interval, start.duration(to: clock.now) * 10)
      try? await Task.sleep(for: pause)
    }
  }

  private func sample() async -> [Sampler.Hub] {
    var samples: [Sampler.Hub] = []
    for (name, hub) in await hubs() {
      samples.append(
        .init(name: name, identity: ObjectIdentifier(hub), statistics: await hub.statistics()))
    }
    return samples
  }

  /// Keeps the sums of the last hour, until it is cancelled.
  private func remember() async {
    let clock = ContinuousClock()
    var pause = configuration.historyInterval
    while (try? await Task.sleep(for: pause)) != nil {
      let start = clock.now
      history.add(.init(await sample().map(\.statistics), at: Sampler.time(clock.now)))
      pause = max(configuration.historyInterval, start.duration(to: clock.now) * 1000)
    }
  }

  private func snapshot() async -> ByteBuffer {
    let samples = await sample()
    let now = ContinuousClock.now
    return ByteBuffer(
      bytes: Snapshot.json(
        of: samples, watch?.report(since: 0, at: now) ?? .init(), history.all,
        limits: configuration.mailboxLimits, troubles: configuration.troubles(), at: now))
  }

  private func listen() async throws -> any Channel {
    guard (0...65535).contains(configuration.port) else {
      throw HubPageError(
        description: "The page's port is \(configuration.port). Ports go from 1 to 65535; 0 is any."
      )
    }
    let document = PageDocument()
    let viewers = viewers
    let patience = patience
    let texts = configuration.texts
    let paths = Set(texts.keys)
    do {
      return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(AcceptPause())
          }
        }
        .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        // So that little is held by the system for a viewer that does not read.
        .childChannelOption(.socketOption(.so_sndbuf), value: 128 * 1024)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            guard viewers.admit(channel) else { return channel.close(promise: nil) }
            let isLoopback = channel.localAddress?.isLoopback ?? true
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(InputLimit(8192))
            try pipeline.configureHTTPServerPipeline(
              withPipeliningAssistance: false, withErrorHandling: false)
            try pipeline.addHandler(
              PageHandler(
                rules: PageRules(isLoopback: isLoopback, texts: paths), document: document,
                viewers: viewers,
                patience: patience, snapshot: { await snapshot() }, texts: texts))
          }
        }
        .bind(host: configuration.host, port: configuration.port).get()
    } catch {
      throw HubPageError(
        description: """
          The page cannot listen on \(configuration.host), port \(configuration.port): \(error). Name an \
          address of this machine and a port that is free, or port 0 for any.
          """)
    }
  }
}

extension SocketAddress {
  /// Whether it is reached from the same machine only.
  fileprivate var isLoopback: Bool {
    switch self {
    case .v4: ipAddress?.hasPrefix("127.") ?? false
    case .v6: ipAddress == "::1" || ipAddress?.hasPrefix("::ffff:127.") ?? false
    case .unixDomainSocket: true
    }
  }
}

/// Accepts nothing for a moment when accepting fails, as it does while there are no descriptors.
private final class AcceptPause: ChannelInboundHandler {
  typealias InboundIn = Any

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    try? context.channel.syncOptions?.setOption(.autoRead, value: false)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.eventLoop.scheduleTask(in: .milliseconds(500)) {
      try? bound.value.channel.syncOptions?.setOption(.autoRead, value: true)
    }
  }
}

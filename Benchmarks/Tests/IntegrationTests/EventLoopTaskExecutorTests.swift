import Delegation
import DelegationAdapters
import DelegationTesting
import NIOCore
import NIOPosix
import Synchronization
import Testing

@Suite("SwiftNIO: an event loop's task executor", .timeLimit(.minutes(10)))
struct EventLoopTaskExecutorTests {
  @Test("each event loop has one, and another than the others")
  func identity() async {
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    defer { loops.shutdownGracefully { _ in } }
    let (first, second) = (loops.next(), loops.next())
    let executor = EventLoopTaskExecutor.of(first)
    #expect(EventLoopTaskExecutor.of(first) === executor)
    #expect(EventLoopTaskExecutor.of(second) !== executor)
    // Off the event loop there is nothing to give way to.
    await executor.giveWay()
  }

  /// Notes how much is done between two looks at the sockets.
  ///
  /// One byte is read at a look, and there are always more.
  private final class LookCounter: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    private struct State {
      var calls = 0
      var most = 0
      var looks = 0
    }

    private let state = Mutex(State())

    /// The most that was done without a look.
    var most: Int { state.withLock { max($0.most, $0.calls) } }
    var looks: Int { state.withLock { $0.looks } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      state.withLock { state in
        state.looks += 1
        state.most = max(state.most, state.calls)
        state.calls = 0
      }
    }

    /// Does something that takes a while.
    func work(for duration: Duration) {
      state.withLock { $0.calls += 1 }
      let end = ContinuousClock.now + duration
      while ContinuousClock.now < end {}
    }
  }

  /// Gives a loop of its own, one of whose sockets always has something to be read.
  private func withLoop(
    _ body: (EventLoopTaskExecutor, LookCounter) async throws -> Void
  ) async throws {
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let others = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let counter = LookCounter()
    let server = try await ServerBootstrap(group: loops)
      .childChannelOption(
        .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 1)
      )
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelInitializer { $0.pipeline.addHandler(counter) }
      .bind(host: "127.0.0.1", port: 0).get()
    let address = try #require(server.localAddress)
    let client = try await ClientBootstrap(group: others).connect(to: address).get()
    // Far more than there are looks; the kernel keeps what has not been read.
    try await client.writeAndFlush(ByteBuffer(repeating: 0, count: 1_000_000)).get()
    try await body(EventLoopTaskExecutor.of(loops.next()), counter)
    try await client.close().get()
    try await server.close().get()
    try await loops.shutdownGracefully()
    try await others.shutdownGracefully()
  }

  @Test("though there is always something to run on the loop, it reads what comes")
  func reading() async throws {
    try await withLoop { executor, counter in
      let flood = Task(executorPreference: executor) {
        // Ends some time, or a loop that does not read would run for ever.
        let (enough, end) = (counter.looks + 10, ContinuousClock.now + .seconds(300))
        while counter.looks < enough, ContinuousClock.now < end { await Task.yield() }
        return counter.looks >= enough
      }
      #expect(await flood.value)
    }
  }

  @Test("though many jobs come at once, the loop looks at its sockets between them")
  func manyJobs() async throws {
    try await withLoop { executor, counter in
      // All there before the first one runs, 400 milliseconds in all: 25 in a turn.
      let (start, begin) = AsyncStream<Void>.makeStream()
      let blocker = Task(executorPreference: executor) {
        begin.finish()
        counter.work(for: .milliseconds(20))
      }
      for await _ in start {}
      let tasks = (0..<2000).map { _ in
        Task(executorPreference: executor) { counter.work(for: .microseconds(200)) }
      }
      await blocker.value
      for task in tasks { await task.value }
      // By far not all at once, though a look may be missed on a busy machine.
      #expect(counter.most <= 250)
    }
  }

  @Test("though many notifications come at once, handlers that give way let the loop look")
  func manyNotifications() async throws {
    try await withLoop { executor, counter in
      let events = Events<Int>()
      for _ in 0..<20 {
        events.registry.observe(on: executor) { _ in
          await executor.giveWay()
          counter.work(for: .microseconds(200))
        }
      }
      for number in 0..<100 { events.post(number) }
      #expect(await events.hub.drain().isEmpty)
      #expect(events.hub.statistics().counts.handled == 2_000)
      #expect(counter.most <= 250)
    }
  }

  @Test("jobs run in the order in which they were enqueued, from wherever they come")
  func order() async throws {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let executor = EventLoopTaskExecutor.of(eventLoop)
    let numbers = Recorder<Int>()
    // Each is one job. For longer than a turn, so that the loop looks at its sockets in between.
    let tasks = (0..<20_000).map { number in
      Task(executorPreference: executor) {
        eventLoop.assertInEventLoop()
        numbers.record(number)
      }
    }
    for task in tasks { await task.value }
    #expect(numbers.events == Array(0..<20_000))
  }
}

import DelegationAdapters
import NIOCore
import NIOPosix
import Synchronization
import Testing

@Suite("SwiftNIO: an event loop's task executor", .timeLimit(.minutes(10)))
struct EventLoopTaskExecutorTests {
  /// Notes that something was read.
  private final class Ear: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    let hasHeard = Atomic(false)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      hasHeard.store(true, ordering: .relaxed)
    }
  }

  @Test("each event loop has one, and another than the others")
  func identity() {
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    defer { loops.shutdownGracefully { _ in } }
    let (first, second) = (loops.next(), loops.next())
    let executor = EventLoopTaskExecutor.of(first)
    #expect(EventLoopTaskExecutor.of(first) === executor)
    #expect(EventLoopTaskExecutor.of(second) !== executor)
  }

  @Test("though there is always something to run on the loop, it reads what comes")
  func reading() async throws {
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let others = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let ear = Ear()
    let server = try await ServerBootstrap(group: loops)
      .childChannelInitializer { $0.pipeline.addHandler(ear) }
      .bind(host: "127.0.0.1", port: 0).get()
    let isUnderWay = AsyncStream<Void>.makeStream()
    let flood = Task(executorPreference: EventLoopTaskExecutor.of(loops.next())) {
      isUnderWay.continuation.finish()
      // Ends some time, or a loop that does not read would run for ever.
      let end = ContinuousClock.now + .seconds(30)
      while !ear.hasHeard.load(ordering: .relaxed), ContinuousClock.now < end {
        await Task.yield()
      }
      return ear.hasHeard.load(ordering: .relaxed)
    }
    for await _ in isUnderWay.stream {}
    let address = try #require(server.localAddress)
    let client = try await ClientBootstrap(group: others).connect(to: address).get()
    try await client.writeAndFlush(ByteBuffer(string: "hello\n")).get()
    #expect(await flood.value)
    try await client.close().get()
    try await server.close().get()
    try await loops.shutdownGracefully()
    try await others.shutdownGracefully()
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
    #expect(numbers.history == Array(0..<20_000))
  }
}

import Delegation
import NIOCore
import NIOPosix
import Testing

/// Runs tasks on an event loop.
final class LoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

@Suite("Samples of a server: event loops", .timeLimit(.minutes(10)))
struct EventLoopSamples {
  private protocol ConnectionDelegate: AnyObject, Sendable {
    func didRead(_ line: String)
  }

  private final class Parser: ConnectionDelegate {
    let eventLoop: any EventLoop
    let history = History()

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func didRead(_ line: String) {
      history.add("\(line) \(eventLoop.inEventLoop)")
    }
  }

  @Test("a subscriber's handlers run on its event loop")
  func onTheLoop() async {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
    let (hub, parser) = (DelegateHub(), Parser(eventLoop))
    hub.subscribe(parser, to: ConnectionDelegate.self, on: LoopExecutor(eventLoop))
    let line = "hello"
    try? await eventLoop.submit {
      // In a channel handler: neither waits nor hops.
      hub.notify(ConnectionDelegate.self) { $0.didRead(line) }
    }.get()
    await hub.drain()
    #expect(parser.history.lines == ["hello true"])
  }
}

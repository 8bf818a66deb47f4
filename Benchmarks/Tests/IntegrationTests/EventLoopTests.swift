import Delegation
import DelegationAdapters
import NIOCore
import NIOPosix
import Testing

@Suite("SwiftNIO: subscribers that live on an event loop", .timeLimit(.minutes(10)))
struct EventLoopTests {
  private let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
  private let hub = DelegateHub()

  @Test("on an event loop's task executor, a synchronous handler of notify runs on the loop")
  func synchronousHandler() async {
    let connection = Connection(watching: eventLoop)
    let other = Connection(watching: eventLoop)
    hub.subscribe(
      connection, to: (any ConnectionDelegate).self, on: EventLoopTaskExecutor.of(eventLoop))
    hub.subscribe(other, to: (any ConnectionDelegate).self)
    for number in 0..<100 {
      hub.notify((any ConnectionDelegate).self) { $0.didRead(number) }
    }
    #expect(await hub.drain().isEmpty)
    #expect(connection.visits.history == (0..<100).map { Visit("didRead", $0) })
    #expect(
      other.visits.history == (0..<100).map { Visit("didRead", $0, isInEventLoop: false) },
      "who did not ask for the loop is not on it")
  }

  @Test("on an event loop's task executor, an asynchronous handler of notify runs on the loop")
  func asynchronousHandler() async {
    let connection = Connection(watching: eventLoop)
    hub.subscribe(
      connection, to: (any ConnectionDelegate).self, on: EventLoopTaskExecutor.of(eventLoop))
    for number in 0..<100 {
      hub.notify((any ConnectionDelegate).self) { await $0.didFlush(number) }
    }
    await hub.notifyAndWait((any ConnectionDelegate).self) { await $0.didFlush(100) }
    #expect(connection.visits.history == flushes(0...100))
  }

  @Test("on an event loop's task executor, a handler is back on the loop after it awaited a future")
  func future() async {
    let connection = Connection(watching: eventLoop)
    hub.subscribe(
      connection, to: (any ConnectionDelegate).self, on: EventLoopTaskExecutor.of(eventLoop))
    let places = Recorder<Bool>()
    let eventLoop = eventLoop
    hub.notify((any ConnectionDelegate).self) { _ in
      places.record(eventLoop.inEventLoop)
      places.record(try await eventLoop.submit { eventLoop.inEventLoop }.get())
      places.record(eventLoop.inEventLoop)
    }
    #expect(await hub.drain().isEmpty)
    #expect(places.history == [true, true, true])
    withExtendedLifetime(connection) {}
  }

  @Test("on an event loop's task executor, a voter answers on the loop")
  func voter() async {
    let connection = Connection(watching: eventLoop)
    hub.subscribe(
      connection, to: (any ConnectionDelegate).self, on: EventLoopTaskExecutor.of(eventLoop))
    #expect(await hub.vote((any ConnectionDelegate).self) { await $0.mayWrite(1) })
    #expect(await hub.vote((any ConnectionDelegate).self) { await $0.mayWrite(13) } == false)
    #expect(connection.visits.history == votes)
    #expect(!eventLoop.inEventLoop, "the caller goes on where it was")
  }

  @Test("an actor on an event loop's executor is notified on the loop")
  func notifiedActor() async {
    let connection = ConnectionActor(on: eventLoop)
    hub.subscribe(connection, to: (any ConnectionDelegate).self)
    for number in 0..<100 {
      hub.notify((any ConnectionDelegate).self) { await $0.didFlush(number) }
    }
    await hub.notifyAndWait((any ConnectionDelegate).self) { await $0.didFlush(100) }
    #expect(await connection.visits == flushes(0...100))
  }

  @Test("an actor on an event loop's executor votes on the loop")
  func votingActor() async {
    let connection = ConnectionActor(on: eventLoop)
    hub.subscribe(connection, to: (any ConnectionDelegate).self)
    #expect(await hub.vote((any ConnectionDelegate).self) { await $0.mayWrite(1) })
    #expect(await hub.vote((any ConnectionDelegate).self) { await $0.mayWrite(13) } == false)
    #expect(await connection.visits == votes)
  }

  @Test("a synchronous handler is isolated to an actor on the loop if it is subscribed on the loop")
  func synchronousHandlerOfAnActor() async {
    let connection = ConnectionActor(on: eventLoop)
    hub.subscribe(
      connection, to: (any ConnectionDelegate).self, on: EventLoopTaskExecutor.of(eventLoop))
    for number in 0..<100 {
      hub.notify((any ConnectionDelegate).self) { $0.didRead(number) }
    }
    #expect(await hub.drain().isEmpty)
    #expect(await connection.visits == (0..<100).map { Visit("didRead", $0) })
  }

  @Test("an actor on the loop that is subscribed on the loop never leaves it")
  func actorOnTheLoopTwice() async {
    let connection = ConnectionActor(on: eventLoop)
    hub.subscribe(
      connection, to: (any ConnectionDelegate).self, on: EventLoopTaskExecutor.of(eventLoop))
    let places = Recorder<Bool>()
    let eventLoop = eventLoop
    hub.notify((any ConnectionDelegate).self) { connection in
      places.record(eventLoop.inEventLoop)
      await connection.didFlush(0)
      places.record(eventLoop.inEventLoop)
    }
    let isAllowed = await hub.vote((any ConnectionDelegate).self) { connection in
      places.record(eventLoop.inEventLoop)
      let isAllowed = await connection.mayWrite(1)
      places.record(eventLoop.inEventLoop)
      return isAllowed
    }
    #expect(isAllowed)
    #expect(await hub.drain().isEmpty)
    #expect(places.history == [true, true, true, true])
    #expect(await connection.visits.count == 4)
    #expect(await connection.visits.allSatisfy(\.isInEventLoop))
  }

  private func flushes(_ numbers: ClosedRange<Int>) -> [Visit] {
    numbers.flatMap { [Visit("didFlush", $0), Visit("didFlush, after a suspension", $0)] }
  }

  private var votes: [Visit] {
    [1, 13].flatMap { [Visit("mayWrite", $0), Visit("mayWrite, after a suspension", $0)] }
  }
}

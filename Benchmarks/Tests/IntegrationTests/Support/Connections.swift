import NIOCore

/// What those are told and asked that live on an event loop.
protocol ConnectionDelegate: AnyObject, Sendable {
  func didRead(_ number: Int)
  func didFlush(_ number: Int) async
  func mayWrite(_ number: Int) async -> Bool
}

/// A call of a delegate's method, and whether it ran on the event loop.
struct Visit: Hashable, Sendable {
  let method: String
  let number: Int
  let isInEventLoop: Bool

  init(_ method: String, _ number: Int, isInEventLoop: Bool = true) {
    self.method = method
    self.number = number
    self.isInEventLoop = isInEventLoop
  }
}

/// A delegate that does not care where it runs, and notes whether it was on an event loop.
final class Connection: ConnectionDelegate {
  let visits = Recorder<Visit>()
  private let eventLoop: any EventLoop

  init(watching eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  func didRead(_ number: Int) {
    note("didRead", number)
  }

  func didFlush(_ number: Int) async {
    note("didFlush", number)
    await Task.yield()
    note("didFlush, after a suspension", number)
  }

  func mayWrite(_ number: Int) async -> Bool {
    note("mayWrite", number)
    await Task.yield()
    note("mayWrite, after a suspension", number)
    return number != 13
  }

  private func note(_ method: String, _ number: Int) {
    visits.record(Visit(method, number, isInEventLoop: eventLoop.inEventLoop))
  }
}

/// A delegate that is an actor on an event loop.
actor ConnectionActor: ConnectionDelegate {
  private(set) var visits: [Visit] = []
  private let eventLoop: any EventLoop

  init(on eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    eventLoop.executor.asUnownedSerialExecutor()
  }

  /// Stops the program unless it is called on the event loop.
  nonisolated func didRead(_ number: Int) {
    assumeIsolated { $0.note("didRead", number) }
  }

  func didFlush(_ number: Int) async {
    note("didFlush", number)
    await Task.yield()
    note("didFlush, after a suspension", number)
  }

  func mayWrite(_ number: Int) async -> Bool {
    note("mayWrite", number)
    await Task.yield()
    note("mayWrite, after a suspension", number)
    return number != 13
  }

  private func note(_ method: String, _ number: Int) {
    visits.append(Visit(method, number, isInEventLoop: eventLoop.inEventLoop))
  }
}

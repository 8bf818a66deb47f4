import Synchronization

/// An `AsyncStream` and a task that reads it for each listener.
final class AsyncStreamPeer: Sendable {
  private let continuations = Mutex<[AsyncStream<Request>.Continuation]>([])

  deinit {
    continuations.withLock { $0.forEach { $0.finish() } }
  }

  func add(_ listener: any Listener) {
    let (stream, continuation) = AsyncStream.makeStream(of: Request.self)
    continuations.withLock { $0.append(continuation) }
    Task { [weak listener] in
      for await request in stream {
        guard let listener else { return }
        listener.didPerform(request)
      }
    }
  }

  func add(_ listener: any AsyncListener) {
    let (stream, continuation) = AsyncStream.makeStream(of: Request.self)
    continuations.withLock { $0.append(continuation) }
    Task { [weak listener] in
      for await request in stream {
        guard let listener else { return }
        await listener.didPerform(request)
      }
    }
  }

  func yield(_ request: Request) {
    for continuation in continuations.withLock({ $0 }) {
      continuation.yield(request)
    }
  }
}

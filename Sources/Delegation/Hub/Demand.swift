extension DelegateHub {
  /// Whether anybody is subscribed to a protocol: the present value first, then each change; see ``Delegates/demand``.
  public struct Demand: AsyncSequence, Sendable {
    let topic: Topic

    /// Looks at the protocol, and waits for it to change.
    public struct AsyncIterator: AsyncIteratorProtocol {
      fileprivate let topic: Topic
      fileprivate var wakes: AsyncStream<Void>.AsyncIterator
      private var last: Bool?

      fileprivate init(_ topic: Topic) {
        self.topic = topic
        wakes = topic.watch().makeAsyncIterator()
      }

      /// The next value; `nil` once the hub is released, or the task is cancelled.
      public mutating func next() async -> Bool? { await next(isolation: nil) }

      /// The next value; `nil` once the hub is released, or the task is cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Bool? {
        while await wakes.next(isolation: actor) != nil {
          let present = topic.state.withLock { $0.population > 0 }
          if present != last {
            last = present
            return present
          }
        }
        return nil
      }
    }

    /// Begins with the present value.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(topic) }
  }
}

extension Topic {
  /// A stream that wakes at once, when the first one subscribes or the last one ends, and ends with the hub.
  fileprivate func watch() -> AsyncStream<Void> {
    let (stream, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    guard let number = state.withLock({ $0.addWatcher(wake) }) else {
      wake.finish()
      return stream
    }
    wake.onTermination = { _ in _ = self.state.withLock { $0.watchers?.removeValue(forKey: number) }
    }
    wake.yield()
    return stream
  }
}

import Delegation

extension Row {
  /// Loops that take events, and tell a countdown of the last of each burst.
  private struct Loops: Sendable {
    let end = Countdown()
    let count: Int
    let length: Int

    func start(_ stream: some AsyncSequence<Int, Never> & Sendable) {
      Task { [end, length] in
        var taken = 0
        for await _ in stream {
          taken += 1
          if taken % length == 0 { end.arrive() }
        }
      }
    }

    func turn(_ post: @escaping @Sendable (Int) -> Void) -> Turn {
      { [self] times in
        await stopwatch {
          for _ in 0..<times {
            end.start(count)
            for number in 0..<length { post(number) }
            await end.wait()
          }
        }
      }
    }
  }

  static let streams = [
    ("5,000 at once", 5_000), ("in bursts of 100", 100), ("one at a time", 1),
  ].map { name, length in
    Row(name: "streams, \(name)", units: { $0 * length }) { size in
      let ours = Loops(count: size, length: length)
      let others = Loops(count: size, length: length)
      let (events, streams) = (Events<Int>(), Streams())
      for _ in 0..<size {
        ours.start(events.registry.stream())
        others.start(streams.make())
      }
      return [
        (.hub, ours.turn { events.post($0) }),
        (.stream, others.turn { streams.post($0) }),
      ]
    }
  }

  static let memory =
    Memory.isThere
    ? [Row(name: "memory, with subscribers", unit: .bytes) { _ in [] }] : []
}

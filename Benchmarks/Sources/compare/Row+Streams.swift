import CAllocator
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

  private static func streams(_ name: String, inBurstsOf length: Int) -> Row {
    Row(name: name, unit: "event and loop", units: { $0 * length }) { size in
      let (ours, others) = (
        Loops(count: size, length: length), Loops(count: size, length: length)
      )
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

  static let streams = [
    streams("streams, 5,000 at once", inBurstsOf: 5_000),
    streams("streams, in bursts of 100", inBurstsOf: 100),
    streams("streams, one at a time", inBurstsOf: 1),
  ]

  /// Bytes of what has so many subscribers, by the allocator's own count; on other systems than Linux there is none.
  static let memory =
    allocated_bytes() == 0
    ? []
    : [
      Row(name: "memory, with subscribers", unit: "bytes", contestants: { _ in [] }) { size in
        let members = (0..<size).map { _ in Member(Countdown(), isCounted: false) }
        // Each is referred to weakly from the beginning: the runtime's own record of that is nobody's.
        let boxes = members.map(Box.init)
        defer { withExtendedLifetime((members, boxes)) {} }
        return [
          (
            .hub,
            bytes {
              subscribed(members) {
                Delegates<any Delegate>()
              } add: {
                $0.registry.subscribe($1)
              }
            }
          ),
          (
            .loop,
            bytes {
              subscribed(members) {
                MutexLoop()
              } add: {
                $0.add($1)
              }
            }
          ),
          (
            .center,
            bytes {
              subscribed(members) {
                Center()
              } add: {
                $0.add($1)
              }
            }
          ),
          (
            .stream,
            bytes {
              subscribed(members) {
                Streams()
              } add: {
                $0.add($1)
              }
            }
          ),
          (
            .queues,
            bytes {
              subscribed(members) {
                QueueForEach()
              } add: {
                $0.add($1)
              }
            }
          ),
        ]
      }
    ]

  private static func subscribed<Caller>(
    _ members: [Member], _ make: () -> Caller, add: (Caller, Member) -> Void
  ) -> Caller {
    let caller = make()
    for member in members { add(caller, member) }
    return caller
  }

  /// How many bytes one of them takes, of sixteen.
  private static func bytes<Caller>(_ make: () -> Caller) -> Double {
    // The first may set something up.
    withExtendedLifetime(make()) {}
    var callers: [Caller] = []
    callers.reserveCapacity(16)
    let before = allocated_bytes()
    for _ in 0..<16 { callers.append(make()) }
    defer { withExtendedLifetime(callers) {} }
    return Double(allocated_bytes() - before) / 16
  }
}

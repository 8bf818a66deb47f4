import Dispatch
import Testing

@testable import Delegation

@Suite("Closures that belong to no actor stay on their caller's")
struct CallersActorTests {
  /// An actor on a queue that knows itself.
  private actor Room {
    private static let mark = DispatchSpecificKey<Bool>()

    private nonisolated let executor: DispatchQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      executor.asUnownedSerialExecutor()
    }

    init() {
      let queue = DispatchQueue(label: "room")
      queue.setSpecific(key: Self.mark, value: true)
      executor = DispatchQueueExecutor(queue)
    }

    /// Whether the current code runs on a room's queue.
    private static var isHere: Bool { DispatchQueue.getSpecific(key: mark) == true }

    func call(_ hub: DelegateHub) async -> [Bool] { await Self.places(in: hub) }

    /// Not the room's, so its closures are not either: they are where their caller is.
    private nonisolated(nonsending) static func places(in hub: DelegateHub) async -> [Bool] {
      var places = [isHere]
      await hub[Listener.self].forEach() { _ async in
        await Task.yield()
        places.append(isHere)
      }
      await hub.delayingDrain {
        await Task.yield()
        places.append(isHere)
      }
      return places
    }
  }

  private struct Passing: DelegateHub.Interceptor {
    var delayed: DelegateHub?

    nonisolated(nonsending) func intercept(
      _ call: DelegateHub.HandlerCall,
      next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
    ) async -> DelegateHub.HandlerOutcome {
      if let delayed { await delayed.delayingDrain { await next() } } else { await next() }
    }
  }

  @Test(
    "in the asynchronous forEach, and in delayingDrain",
    arguments: [[], [Passing()], [Passing(delayed: DelegateHub())]])
  private func places(interceptors: [Passing]) async {
    let hub = DelegateHub { $0.interceptors = interceptors }
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    #expect(await Room().call(hub) == [true, true, true, true])
    withExtendedLifetime(probes) {}
  }
}

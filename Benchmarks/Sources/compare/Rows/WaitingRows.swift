import Delegation

/// What it costs when many wait: twice as many should take about twice as long.
let waitingRows: [Row] = [
  Row("waits.tasks.drain") { _ in
    doubling("waits.tasks.drain", [10, 100, 500]) { count in
      tasks(count) { hub, _ in await hub.drain() }
    }
  },
  Row("waits.tasks.notify") { _ in
    doubling("waits.tasks.notify", [10, 100, 500]) { count in
      tasks(count) { hub, _ in await hub.notifyAndWait((any AsyncListener).self) { _ in } }
    }
  },
  Row("waits.tasks.cancel") { _ in
    doubling("waits.tasks.cancel", [10, 100, 500]) { count in
      tasks(count) { _, subscription in await subscription.cancelAndWait() }
    }
  },
]

private let request = Request(id: 7, units: 1)

/// Holds a number against its double, for each of some numbers.
private func doubling(
  _ id: String, _ counts: [Int], unit: String = "round of N", target: Target = .within(2.5),
  _ contestant: (_ count: Int) -> Contestant
) -> Contest {
  Contest(
    id: id, unit: unit,
    contestants: counts.flatMap { [contestant($0), contestant(2 * $0)] },
    comparisons: counts.map { .of("N=\(2 * $0)", against: "N=\($0)", target: target) })
}

/// Makes a contestant whose tasks all wait until one handler returns.
private func tasks(
  _ count: Int, _ wait: @escaping @Sendable (DelegateHub, DelegateHub.Subscription) async -> Void
) -> Contestant {
  Contestant(
    "N=\(count)", units: 1, keeping: [],
    timing: { iterations in
      var total: Nanoseconds = 0
      for _ in 0..<iterations {
        let (hub, door) = (DelegateHub(), Door())
        let listener = HungListener(door: door)
        let subscription = hub.subscribe(listener, to: (any AsyncListener).self)
        hub.notify((any AsyncListener).self) { await $0.didPerform(request) }
        await door.waitUntilWaiting(1)
        total += await stopwatch {
          await withTaskGroup { group in
            for _ in 0..<count { group.addTask { await wait(hub, subscription) } }
            // When all of them wait, as far as tasks are run in the order in which they were made.
            group.addTask { door.open() }
          }
        }
        await hub.drain()
        withExtendedLifetime(listener) {}
      }
      return total
    })
}

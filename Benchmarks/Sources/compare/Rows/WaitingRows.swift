import Delegation

/// What it costs when many wait: twice as many should take about twice as long.
let waitingRows: [Row] = [
  Row("waits.handlers.drain") { _ in
    doubling("waits.handlers.drain", [10, 100, 500]) { count in
      let hub = DelegateHub()
      return handlers(count, of: hub, subscribe(count, to: hub)) { _ in await hub.drain() }
    }
  },
  Row("waits.handlers.notify") { _ in
    // Each is told of each: N times N deliveries, of which each should take as long as before.
    doubling("waits.handlers.notify", [10, 50, 100], unit: "delivery", target: .within(1.25)) {
      count in
      let hub = DelegateHub()
      var contestant = handlers(count, of: hub, subscribe(count, to: hub)) { _ in
        await hub.notifyAndWait((any AsyncListener).self) { _ in }
      }
      contestant.units = count * count
      return contestant
    }
  },
  Row("waits.handlers.hubs") { _ in
    doubling("waits.handlers.hubs", [10, 100, 250]) { count in
      let hubs = [DelegateHub(), DelegateHub()]
      let listeners = hubs.map { subscribe(count, to: $0) }
      return Contestant(
        "N=\(count)", units: 1, keeping: listeners,
        work: { iterations in
          for _ in 0..<iterations {
            for (hub, other) in [(hubs[0], hubs[1]), (hubs[1], hubs[0])] {
              hub.notify((any AsyncListener).self) { _ in await other.drain() }
            }
            for hub in hubs { await hub.drain() }
          }
        })
    }
  },
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
  Row("waits.beside") { _ in beside() },
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

/// Subscribes listeners that do nothing themselves.
private func subscribe(_ count: Int, to hub: DelegateHub) -> [HungListener] {
  let door = Door()
  door.open()
  let listeners = (0..<count).map { _ in HungListener(door: door) }
  for listener in listeners { hub.subscribe(listener, to: (any AsyncListener).self) }
  return listeners
}

/// Makes a contestant whose handlers all wait for something, and go on.
private func handlers(
  _ count: Int, of hub: DelegateHub, _ listeners: [HungListener],
  _ wait: @escaping @Sendable (any AsyncListener) async -> Void
) -> Contestant {
  Contestant(
    "N=\(count)", units: 1, keeping: listeners,
    work: { iterations in
      for _ in 0..<iterations {
        hub.notify((any AsyncListener).self) { await wait($0) }
        await hub.drain()
      }
    })
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

/// A hub whose handler waits, while a thousand handlers of another hub wait for each other.
private func beside() -> Contest {
  func contestant(_ name: String, _ count: Int) -> Contestant {
    let (hub, other) = (DelegateHub(), DelegateHub())
    let listeners = subscribe(1, to: hub) + subscribe(count, to: other)
    var contestant = Contestant(
      name, units: 1, keeping: listeners,
      timing: { iterations in
        let door = Door()
        // This one has all others wait for it until the turn is over.
        let last = HungListener(door: door)
        other.subscribe(last, to: (any AsyncListener).self)
        other.notify((any AsyncListener).self) { listener in
          if listener === last { await listener.didPerform(request) } else { await other.drain() }
        }
        await door.waitUntilWaiting(1)
        let time = await stopwatch {
          for _ in 0..<iterations {
            hub.notify((any AsyncListener).self) { _ in await hub.drain() }
            await hub.drain()
          }
        }
        door.open()
        await other.drain()
        withExtendedLifetime(last) {}
        return time
      })
    // As many for both: what the others take to begin and to end leaves few to a turn.
    contestant.leastIterations = 1_000
    return contestant
  }
  return Contest(
    id: "waits.beside", unit: "wait",
    contestants: [contestant("hub alone", 0), contestant("hub beside 1,000", 1_000)],
    comparisons: [.of("hub beside 1,000", against: "hub alone", target: .within(1.5))])
}

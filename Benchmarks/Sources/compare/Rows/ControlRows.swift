/// What the machine does without any library: if these are off, so is all the rest.
let controlRows: [Row] = [
  Row("control.call") { _ in calls() },
  Row("control.hop") { _ in hops() },
]

private let request = Request(id: 7, units: 1)
/// An actor that does next to nothing.
private actor Counter {
  private(set) var count = 0

  func increment() { count += 1 }
}

/// A listener called over a strong and over a weak reference, in bursts as everywhere.
private func calls() -> Contest {
  let crowd = Crowd(10, burst: 100)
  let listeners: [any Listener] = crowd.listeners
  let loop = WeakLoop(listeners: listeners)
  return Contest(
    id: "control.call", unit: "call",
    contestants: [
      Contestant(
        "strong reference", units: crowd.deliveries, keeping: [crowd],
        work: { iterations in
          for _ in 0..<iterations {
            crowd.start()
            for _ in 0..<crowd.burst {
              for listener in listeners { listener.didPerform(request) }
            }
            await crowd.wait()
          }
        }),
      Contestant(
        "weak reference", units: crowd.deliveries, keeping: [crowd],
        work: { iterations in
          for _ in 0..<iterations {
            crowd.start()
            for _ in 0..<crowd.burst { loop.notify { $0.didPerform(request) } }
            await crowd.wait()
          }
        }),
    ],
    comparisons: [.alone("strong reference"), .alone("weak reference")])
}

/// A hop to an actor that nobody else wants, and a task that does nothing.
private func hops() -> Contest {
  let counter = Counter()
  return Contest(
    id: "control.hop", unit: "await",
    contestants: [
      Contestant(
        "actor", units: 1, keeping: [counter],
        work: { iterations in
          let before = await counter.count
          for _ in 0..<iterations { await counter.increment() }
          let after = await counter.count
          precondition(after == before + iterations)
        }),
      Contestant(
        "task", units: 1, keeping: [],
        work: { iterations in
          for _ in 0..<iterations { await Task {}.value }
        }),
    ],
    comparisons: [.alone("actor"), .alone("task")])
}

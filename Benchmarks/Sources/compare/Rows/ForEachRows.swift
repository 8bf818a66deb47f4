import Delegation
import Synchronization

/// What it costs to call everybody now, where the caller runs.
let forEachRows: [Row] =
  [1, 10, 100].map { count in Row("forEach.\(count)") { _ in forEach(count) } } + [
    Row("forEach.tick.20000") { _ in await ticks() }
  ]

private let request = Request(id: 7, units: 1)

/// Hears, and keeps what it has heard, so that the call cannot be left out.
private final class Ear: Listener {
  private let last = Atomic<Int>(0)

  func didPerform(_ request: Request) { last.store(request.id, ordering: .relaxed) }
}

/// What one writes oneself: an array of weak references behind a lock, copied before it is called.
private final class LockedWeakLoop: Sendable {
  private let boxes: Mutex<[WeakListener]>

  init(_ listeners: [any Listener]) { boxes = Mutex(listeners.map(WeakListener.init)) }

  func forEach(_ body: (any Listener) -> Void) {
    for box in boxes.withLock({ $0 }) {
      if let listener = box.value { body(listener) }
    }
  }
}

private func forEach(_ count: Int) -> Contest {
  let ears = (0..<count).map { _ in Ear() }
  let delegates = Delegates<any Listener>()
  let (loop, center, subject) = (
    LockedWeakLoop(ears), NotificationCenterPeer(), PassthroughSubjectPeer()
  )
  for ear in ears {
    delegates.registry.subscribe(ear)
    center.add(ear)
    subject.add(ear)
  }
  func calling(_ name: String, _ call: @escaping @Sendable () -> Void) -> Contestant {
    Contestant(
      name, units: count, keeping: ears,
      work: { iterations in
        for _ in 0..<iterations { call() }
      })
  }
  return Contest(
    id: "forEach.\(count)", unit: "call",
    contestants: [
      calling("hub") { delegates.forEach { $0.didPerform(request) } },
      calling("weak loop behind a mutex") { loop.forEach { $0.didPerform(request) } },
      calling("NotificationCenter") { center.post(request) },
      calling("PassthroughSubject") { subject.send(request) },
    ],
    comparisons: [
      .of(against: "weak loop behind a mutex", target: .within(1.4)),
      .of(against: "NotificationCenter"), .of(against: "PassthroughSubject"),
    ])
}

/// A tick of a simulation: 20,000 entities are told, and 100 of them have come and gone since the last one.
private func ticks() async -> Contest {
  let (count, change) = (20_000, 100)
  func ticking(
    _ name: String, _ tick: @escaping @Sendable (Delegates<any Listener>) async -> Void
  ) -> Contestant {
    // Those that die before the first tick are meant to.
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let delegates = Delegates<any Listener>(of: hub)
    let ears = Mutex((0..<count).map { _ in Ear() })
    for ear in ears.withLock({ $0 }) { delegates.registry.subscribe(ear) }
    let next = Atomic<Int>(0)
    return Contestant(
      name, units: 1, keeping: [],
      work: { iterations in
        for _ in 0..<iterations {
          for _ in 0..<change {
            let ear = Ear()
            delegates.registry.subscribe(ear)
            let place = next.wrappingAdd(1, ordering: .relaxed).oldValue % count
            ears.withLock { $0[place] = ear }
          }
          await tick(delegates)
        }
      })
  }
  return Contest(
    id: "forEach.tick.20000", unit: "tick",
    contestants: [
      ticking("forEach") { $0.forEach { $0.didPerform(request) } },
      ticking("notifyAndWait") { await $0.notifyAndWait { $0.didPerform(request) } },
    ],
    comparisons: [.of("forEach", against: "notifyAndWait", target: .faster(3))])
}

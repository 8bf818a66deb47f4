import Delegation
import Dispatch

/// What a delivery costs when notifications come in bursts of 100.
let notifyRows: [Row] = [
  Row(id: "notify.100") { _ in
    await bursts(
      "notify.100", to: Crowd(100, burst: 100),
      comparisons: [
        .of(against: "notification center", target: .within(1)),
        .of(against: "queue per delegate", target: .faster(4)),
        .of(against: "task per delivery", target: .faster(10)),
        .of(against: "async message", target: .faster(10)),
        .of(against: "async stream"),
        .of(against: "passthrough subject"),
        .of(against: "weak loop"),
      ])
  },
  Row(id: "notify.1") { _ in
    await bursts(
      "notify.1", to: Crowd(1, burst: 100),
      comparisons: [
        .of(against: "queue per delegate", target: .within(0.7)),
        .of(against: "notification center"),
        .of(against: "task per delivery"),
        .of(against: "async message"),
        .of(against: "async stream"),
        .of(against: "passthrough subject"),
        .of(against: "weak loop"),
      ])
  },
]

/// What every notification of a burst carries: one unit, which is what the listeners count.
private let request = Request(id: 7, units: 1)

/// Sets up one contest of bursts.
private func bursts(
  _ id: String, to crowd: Crowd, comparisons: [Comparison]
) async -> Contest {
  let hub = DelegateHub()
  let tasks = TaskPerCallHub()
  let queues = QueueMulticastDelegate()
  let center = NotificationCenterPeer()
  let messages = AsyncMessagePeer()
  let streams = AsyncStreamPeer()
  let subject = PassthroughSubjectPeer()
  let loop = WeakLoop(listeners: crowd.listeners)
  for (index, listener) in crowd.listeners.enumerated() {
    hub.subscribe(listener, to: (any Listener).self)
    await tasks.add(listener)
    queues.add(listener, delegateQueue: DispatchQueue(label: "delegate \(index)"))
    center.add(listener)
    messages.add(listener)
    streams.add(listener)
    subject.add(listener)
  }
  return Contest(
    id: id, unit: "delivery",
    contestants: [
      posting("hub", to: crowd) { hub.notify((any Listener).self) { $0.didPerform(request) } },
      posting("queue per delegate", to: crowd) { queues.invoke { $0.didPerform(request) } },
      posting("notification center", to: crowd) { center.post(request) },
      posting("async message", to: crowd) { messages.post(request) },
      posting("async stream", to: crowd) { streams.yield(request) },
      posting("passthrough subject", to: crowd) { subject.send(request) },
      posting("weak loop", to: crowd) { loop.notify { $0.didPerform(request) } },
      Contestant(
        "task per delivery", units: crowd.listeners.count * crowd.burst, keeping: [crowd],
        work: { iterations in
          for _ in 0..<iterations {
            crowd.start()
            for _ in 0..<crowd.burst { await tasks.notify { $0.didPerform(request) } }
            await crowd.wait()
          }
        }),
    ],
    comparisons: comparisons)
}

/// Makes a contestant of something that posts without waiting.
///
/// Posted from one task, awaited by the last handler's own signal: everybody is treated alike, and
/// whoever delivers before it returns has no wait at the end.
private func posting(
  _ name: String, to crowd: Crowd, _ post: @escaping @Sendable () -> Void
) -> Contestant {
  Contestant(
    name, units: crowd.listeners.count * crowd.burst, keeping: [crowd],
    work: { iterations in
      for _ in 0..<iterations {
        crowd.start()
        for _ in 0..<crowd.burst { post() }
        await crowd.wait()
      }
    })
}

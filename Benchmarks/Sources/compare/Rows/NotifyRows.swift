import Delegation
import Dispatch

/// What a delivery to a synchronous handler costs, in bursts and alone, by one poster and by several.
let notifyRows: [Row] = burstRows + threadRows + singleRows

private let burstRows: [Row] = [
  Row("notify.1") { _ in
    await bursts(
      "notify.1", to: Crowd(1, burst: 100),
      targets: ["queue per delegate": .within(0.7, noise: .wakes)])
  },
  Row("notify.10") { _ in await bursts("notify.10", to: Crowd(10, burst: 100)) },
  Row("notify.100") { _ in
    await bursts(
      "notify.100", to: Crowd(100, burst: 100),
      targets: [
        "notification center": .within(1), "queue per delegate": .faster(4),
        "task per delivery": .faster(10), "async message": .faster(10),
      ])
  },
  // Shorter bursts: a hundred for a thousand would take the slowest half a second.
  Row("notify.1000") { _ in await bursts("notify.1000", to: Crowd(1000, burst: 10)) },
  Row("notify.100.posters8") { _ in
    await bursts("notify.100.posters8", to: Crowd(100, burst: 200), posters: .tasks(8))
  },
]

/// Threads that post, beside those who need no task to post from.
private let threadRows: [Row] = [1, 4, 8, 16].map { count in
  let id = "notify.10.threads\(count)"
  return Row(id) { _ in
    await bursts(id, to: Crowd(10, burst: 1_600), posters: .threads(Threads(count)))
  }
}

private let singleRows: [Row] = [1, 2, 3, 5, 10, 100, 1000].map { count in
  let id = "single.\(count)"
  return Row(id) { _ in await bursts(id, to: Crowd(count, burst: 1)) }
}

/// What every notification of a burst carries: one unit, which is what the listeners count.
private let request = Request(id: 7, units: 1)

/// Sets up one contest of bursts.
private func bursts(
  _ id: String, to crowd: Crowd<BurstListener>, posters: Posters = .one,
  targets: [String: Target] = [:]
) async -> Contest {
  let hub = DelegateHub()
  let tasks = TaskPerCallHub()
  let actor = ActorLoop()
  let queues = QueueMulticastDelegate()
  let center = NotificationCenterPeer()
  let messages = AsyncMessagePeer()
  let streams = AsyncStreamPeer()
  let subject = PassthroughSubjectPeer()
  let loop = WeakLoop(listeners: crowd.listeners)
  for (index, listener) in crowd.listeners.enumerated() {
    hub.subscribe(listener, to: (any Listener).self)
    await tasks.add(listener)
    await actor.add(listener)
    queues.add(listener, delegateQueue: DispatchQueue(label: "delegate \(index)"))
    center.add(listener)
    messages.add(listener)
    streams.add(listener)
    subject.add(listener)
  }
  var contestants = [
    posting("hub", to: crowd, posters) {
      hub.notify((any Listener).self) { $0.didPerform(request) }
    },
    posting("queue per delegate", to: crowd, posters) { queues.invoke { $0.didPerform(request) } },
    posting("notification center", to: crowd, posters) { center.post(request) },
    posting("passthrough subject", to: crowd, posters) { subject.send(request) },
  ]
  if case .tasks(let posters) = posters {
    contestants += [
      posting("async message", to: crowd, .tasks(posters)) { messages.post(request) },
      posting("async stream", to: crowd, .tasks(posters)) { streams.yield(request) },
      posting("weak loop", to: crowd, .tasks(posters)) { loop.notify { $0.didPerform(request) } },
      awaiting("actor loop", to: crowd, posters) {
        await actor.notify { $0.didPerform(request) }
      },
      awaiting("task per delivery", to: crowd, posters) {
        await tasks.notify { $0.didPerform(request) }
      },
    ]
  }
  return Contest(
    id: id, unit: "delivery", contestants: contestants,
    comparisons: contestants.dropFirst().map { peer in
      .of(against: peer.name, target: targets[peer.name])
    })
}

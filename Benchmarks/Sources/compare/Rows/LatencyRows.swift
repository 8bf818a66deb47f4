import Delegation
import Dispatch

/// How long a single notification takes from the poster to the handler when nothing else goes on.
let latencyRows: [Row] = [
  Row("latency.idle") { _ in await latencies() }
]

private let request = Request(id: 7, units: 1)

private func latencies() async -> Contest {
  let end = Countdown()
  let listener = StampingListener(end: end)
  let hub = DelegateHub()
  let queues = QueueMulticastDelegate()
  let streams = AsyncStreamPeer()
  hub.subscribe(listener, to: (any Listener).self)
  queues.add(listener, delegateQueue: DispatchQueue(label: "delegate"))
  streams.add(listener)

  return Contest(
    id: "latency.idle", unit: "notification",
    contestants: [
      // `drain` between two of them: the hub shall be idle, its worker gone.
      single("hub", listener, end, rest: { await hub.drain() }) {
        hub.notify((any Listener).self) { $0.didPerform(request) }
      },
      single("bare task", listener, end) { Task { listener.didPerform(request) } },
      single("queue per delegate", listener, end) { queues.invoke { $0.didPerform(request) } },
      single("async stream", listener, end) { streams.yield(request) },
    ],
    comparisons: [
      .of(against: "bare task", target: .within(1.2, noise: .wakes)),
      .of(against: "queue per delegate"),
      .of(against: "async stream"),
    ])
}

/// Makes a contestant that posts one notification at a time and comes to rest after each.
private func single(
  _ name: String, _ listener: StampingListener, _ end: Countdown,
  rest: @escaping @Sendable () async -> Void = {},
  _ post: @escaping @Sendable () -> Void
) -> Contestant {
  Contestant(
    name, units: 1, keeping: [listener],
    timing: { iterations in
      var total: Nanoseconds = 0
      for _ in 0..<iterations {
        end.start(1)
        let posted = now()
        post()
        await end.wait()
        total += Nanoseconds(listener.calledAt - posted)
        await rest()
      }
      return total
    })
}

import Delegation
import Dispatch

/// What a hub or its like takes with few subscribers, all that it needs besides them included.
let smallMemoryRows: [Row] = [1, 3, 10, 100].map { count in
  let id = "memory.hub.\(count)"
  return Row(id, measure: { plan in await smallHubs(id, of: count, plan) })
}

/// Makes one, gives it listeners, and returns it.
private typealias Maker = @Sendable (_ listeners: [BurstListener]) async -> any Sendable

private let makers: [(name: String, make: Maker)] = [
  (
    "hub",
    { listeners in
      let hub = DelegateHub()
      for listener in listeners { hub.subscribe(listener, to: (any Listener).self) }
      let subscribed = hub.subscriberCount(of: (any Listener).self)
      precondition(subscribed == listeners.count, "only \(subscribed) are subscribed")
      return hub
    }
  ),
  (
    "actor loop",
    { listeners in
      let actor = ActorLoop()
      for listener in listeners { await actor.add(listener) }
      return actor
    }
  ),
  (
    "queue per delegate",
    { listeners in
      let queues = QueueMulticastDelegate()
      for listener in listeners {
        queues.add(listener, delegateQueue: DispatchQueue(label: "delegate"))
      }
      return queues
    }
  ),
  (
    "notification center",
    { listeners in
      let center = NotificationCenterPeer()
      for listener in listeners { center.add(listener) }
      return center
    }
  ),
  (
    "async message",
    { listeners in
      let messages = AsyncMessagePeer()
      for listener in listeners { messages.add(listener) }
      return messages
    }
  ),
  (
    "async stream",
    { listeners in
      let streams = AsyncStreamPeer()
      for listener in listeners { streams.add(listener) }
      return streams
    }
  ),
  (
    "passthrough subject",
    { listeners in
      let subject = PassthroughSubjectPeer()
      for listener in listeners { subject.add(listener) }
      return subject
    }
  ),
]

/// Counts the bytes of many that are alike, and makes a line for each kind.
private func smallHubs(_ id: String, of count: Int, _ plan: Plan) async -> [Line] {
  let hubs = max(100, 10_000 / count)
  var lines: [Line] = []
  for (name, make) in makers where name.hasPrefix(plan.soloist ?? "") {
    var figures: [Double] = []
    for _ in 0..<plan.countings {
      figures.append(await bytes(of: hubs, with: count, make) / Double(hubs))
    }
    lines.append(
      Line(
        row: id, unit: "hub of \(count)", scale: .bytes, comparison: .alone(name),
        figure: Samples(figures)))
  }
  return lines
}

/// What so many of them allocate, their listeners themselves not counted.
private func bytes(of hubs: Int, with count: Int, _ make: Maker) async -> Double {
  let end = Countdown()
  let listeners = (0..<hubs).map { _ in
    (0..<count).map { _ in BurstListener(burst: 1, end: end) }
  }
  var made: [any Sendable] = []
  made.reserveCapacity(hubs)
  let before = await allocatedBytes()
  for listeners in listeners { made.append(await make(listeners)) }
  let after = await allocatedBytes()
  withExtendedLifetime((made, listeners)) {}
  return Double(after - before)
}

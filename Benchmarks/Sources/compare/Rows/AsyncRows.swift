import Delegation

/// What a delivery to an asynchronous handler costs.
let asyncRows: [Row] = [
  Row("notify.async.100") { _ in
    await bursts("notify.async.100", to: Crowd(100, burst: 100, PromptListener.init))
  },
  Row("notify.actor.100") { _ in
    await bursts("notify.actor.100", to: Crowd(100, burst: 100, ActorListener.init))
  },
  Row("notify.yield.100") { _ in
    await bursts("notify.yield.100", to: Crowd(100, burst: 100, YieldingListener.init))
  },
  Row("notify.sleep.100") { _ in
    // Each handles four, one after another, for 5 ms each: 20 ms if nobody waits for anybody else.
    await bursts(
      "notify.sleep.100", to: Crowd(100, burst: 4, SleepingListener.init), unit: "burst of 4",
      withLoop: false)
  },
]

private let request = Request(id: 7, units: 1)

/// Sets up one contest of bursts.
private func bursts<Member: AsyncListener>(
  _ id: String, to crowd: Crowd<Member>, unit: String = "delivery", withLoop: Bool = true
) async -> Contest {
  let hub = DelegateHub()
  let tasks = TaskPerCallHub()
  let streams = AsyncStreamPeer()
  let loop = WeakLoop(asyncListeners: crowd.listeners)
  for listener in crowd.listeners {
    hub.subscribe(listener, to: (any AsyncListener).self)
    await tasks.add(listener)
    streams.add(listener)
  }
  let units = unit == "delivery" ? crowd.deliveries : 1
  var contestants = [
    posting("hub", to: crowd, units: units) {
      hub.notify((any AsyncListener).self) { await $0.didPerform(request) }
    },
    // Which does not keep the order: of those that sleep, a listener's four sleep at once.
    awaiting("task per delivery", to: crowd, units: units) {
      await tasks.notify { await $0.didPerform(request) }
    },
    posting("async stream", to: crowd, units: units) { streams.yield(request) },
  ]
  if withLoop {
    contestants.append(
      awaiting("weak loop", to: crowd) { await loop.notify { await $0.didPerform(request) } })
  }
  return Contest(
    id: id, unit: unit, contestants: contestants,
    comparisons: contestants.dropFirst().map { .of(against: $0.name) })
}

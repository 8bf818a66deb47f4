import Delegation
import Dispatch

/// What it costs to subscribe and to cancel, few and many.
///
/// Of a hub the cost is taken until it has acted on it: the first call afterwards is part of it.
let subscribingRows: [Row] = [
  Row("subscribe") { _ in await subscribing() },
  Row("cancel") { _ in await cancelling() },
]

private let few = 100
private let many = 100_000

/// How much longer each of a hundred thousand may take than each of a hundred, if it is O(1): what
/// memory costs that is in no cache any more, where O(n) would be a thousand times as long.
private let constant = Target.within(10)

private func listeners(_ count: Int) -> [BurstListener] {
  let end = Countdown()
  return (0..<count).map { _ in BurstListener(burst: 1, end: end) }
}

/// Makes a contestant of which only a part counts, the part that `timing` times itself.
private func trial(
  _ name: String, _ listeners: [BurstListener],
  _ timing: @escaping @Sendable ([BurstListener]) async -> Nanoseconds
) -> Contestant {
  Contestant(
    name, units: listeners.count, keeping: listeners,
    timing: { iterations in
      var total: Nanoseconds = 0
      for _ in 0..<iterations { total += await timing(listeners) }
      return total
    })
}

/// Makes the hub act on what it was told, by a question to one subscriber at most.
private func settle(_ hub: DelegateHub) async {
  _ = await hub.askInTurn((any Listener).self) { _ in true }
}

private func subscribing() async -> Contest {
  let hundred = listeners(few)
  let toHub: @Sendable ([BurstListener]) async -> Nanoseconds = { listeners in
    let hub = DelegateHub()
    return await stopwatch {
      for listener in listeners { hub.subscribe(listener, to: (any Listener).self) }
      await settle(hub)
    }
  }
  return Contest(
    id: "subscribe", unit: "subscriber",
    contestants: [
      trial("hub, N=100", hundred, toHub),
      trial("hub, N=100,000", listeners(many), toHub),
      trial("task per delivery, N=100", hundred) { listeners in
        let tasks = TaskPerCallHub()
        return await stopwatch {
          for listener in listeners { await tasks.add(listener) }
        }
      },
      trial("queue per delegate, N=100", hundred) { listeners in
        let queues = QueueMulticastDelegate()
        return await stopwatch {
          for listener in listeners {
            queues.add(listener, delegateQueue: DispatchQueue(label: "delegate"))
          }
        }
      },
      trial("notification center, N=100", hundred) { listeners in
        let center = NotificationCenterPeer()
        return await stopwatch {
          for listener in listeners { center.add(listener) }
        }
      },
    ],
    comparisons: [
      .of("hub, N=100,000", against: "hub, N=100", target: constant),
      .of("hub, N=100", against: "task per delivery, N=100"),
      .of("hub, N=100", against: "queue per delegate, N=100"),
      .of("hub, N=100", against: "notification center, N=100"),
    ])
}

private func cancelling() async -> Contest {
  let hundred = listeners(few)
  // Not in the order of subscription, which would spare a list its search.
  let fromHub: @Sendable ([BurstListener]) async -> Nanoseconds = { listeners in
    let hub = DelegateHub()
    let subscriptions = listeners.map { hub.subscribe($0, to: (any Listener).self) }.shuffled()
    await settle(hub)
    return await stopwatch {
      for subscription in subscriptions { subscription.cancel() }
      await settle(hub)
    }
  }
  return Contest(
    id: "cancel", unit: "subscriber",
    contestants: [
      trial("hub, N=100", hundred, fromHub),
      trial("hub, N=100,000", listeners(many), fromHub),
      trial("task per delivery, N=100", hundred) { listeners in
        let tasks = TaskPerCallHub()
        for listener in listeners { await tasks.add(listener) }
        let leaving = listeners.shuffled()
        return await stopwatch {
          for listener in leaving { await tasks.remove(listener) }
        }
      },
      trial("queue per delegate, N=100", hundred) { listeners in
        let queues = QueueMulticastDelegate()
        for listener in listeners {
          queues.add(listener, delegateQueue: DispatchQueue(label: "delegate"))
        }
        let leaving = listeners.shuffled()
        return await stopwatch {
          for listener in leaving { queues.remove(listener) }
        }
      },
      trial("notification center, N=100", hundred) { listeners in
        let center = NotificationCenterPeer()
        let tokens = listeners.map { center.add($0) }.shuffled()
        return await stopwatch {
          for token in tokens { center.remove(token) }
        }
      },
    ],
    comparisons: [
      .of("hub, N=100,000", against: "hub, N=100", target: constant),
      .of("hub, N=100", against: "task per delivery, N=100"),
      .of("hub, N=100", against: "queue per delegate, N=100"),
      .of("hub, N=100", against: "notification center, N=100"),
    ])
}

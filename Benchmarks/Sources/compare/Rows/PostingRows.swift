import Delegation
import Dispatch
import Synchronization

/// How long `notify` takes to return, whatever happens after.
let postingRows: [Row] =
  [Row("post.return") { _ in await posts() }]
  + [1, 3, 10, 100].map { count in
    let id = "post.return.\(count)"
    return Row(id) { _ in await posts(id, to: Crowd(count, burst: burst)) }
  }
  + [Row("post.threads") { plan in threads(plan.skipsSlowControls ? [1, 16] : [1, 4, 8, 16]) }]

private let request = Request(id: 7, units: 1)

/// As many as a poster sends while the hub is already at work on the first.
private let burst = 100

private func posts() async -> Contest {
  let one = Crowd(1, burst: burst)
  let hundred = Crowd(100, burst: burst)
  let tenThousand = Crowd(10_000, burst: burst)
  let hubOfOne = hub(of: one)
  let hubOfHundred = hub(of: hundred)
  var toTenThousand = returning("hub, N=10,000", tenThousand, hub(of: tenThousand))
  // A million deliveries, of which only the hundred posts are measured: one such burst is too few.
  toTenThousand.leastIterations = 4

  // Somebody is there, but nobody who listens: the case a server meets when a module is not loaded.
  let deaf = DelegateHub()
  let gatekeeper = ClassGatekeeper(forbidding: 0)
  deaf.subscribe(gatekeeper, to: (any Gatekeeper).self)

  let queues = QueueMulticastDelegate()
  let center = NotificationCenterPeer()
  let subject = PassthroughSubjectPeer()
  for (index, listener) in hundred.listeners.enumerated() {
    queues.add(listener, delegateQueue: DispatchQueue(label: "delegate \(index)"))
    center.add(listener)
    subject.add(listener)
  }

  return Contest(
    id: "post.return", unit: "post",
    contestants: [
      returning("hub, N=1", one, hubOfOne),
      returning("hub, N=100", hundred, hubOfHundred),
      toTenThousand,
      returning("hub, N=100, 4 posters", hundred, hubOfHundred, posters: 4),
      Contestant(
        "hub, nobody", units: 1, keeping: [gatekeeper],
        work: { iterations in
          for _ in 0..<iterations { deaf.notify((any Listener).self) { $0.didPerform(request) } }
        }),
      returning("queue per delegate, N=100", hundred) {
        queues.invoke { $0.didPerform(request) }
      },
      returning("notification center, N=100", hundred) { center.post(request) },
      returning("passthrough subject, N=100", hundred) { subject.send(request) },
    ],
    comparisons: [
      .of("hub, N=10,000", against: "hub, N=1", target: .within(1.3, noise: .wakes)),
      .of("hub, N=100", against: "hub, N=1"),
      .of("hub, N=100, 4 posters", against: "hub, N=100"),
      .alone("hub, nobody", target: .atMost(30)),
      .of("hub, N=100", against: "queue per delegate, N=100"),
      .of("hub, N=100", against: "notification center, N=100"),
      .of("hub, N=100", against: "passthrough subject, N=100"),
    ])
}

/// Sets up the contest of everybody who posts to a crowd.
private func posts(_ id: String, to crowd: Crowd<BurstListener>) async -> Contest {
  let queues = QueueMulticastDelegate()
  let center = NotificationCenterPeer()
  let messages = AsyncMessagePeer()
  let streams = AsyncStreamPeer()
  let subject = PassthroughSubjectPeer()
  for (index, listener) in crowd.listeners.enumerated() {
    queues.add(listener, delegateQueue: DispatchQueue(label: "delegate \(index)"))
    center.add(listener)
    messages.add(listener)
    streams.add(listener)
    subject.add(listener)
  }
  let contestants = [
    returning("hub", crowd, hub(of: crowd)),
    returning("queue per delegate", crowd) { queues.invoke { $0.didPerform(request) } },
    returning("notification center", crowd) { center.post(request) },
    returning("async message", crowd) { messages.post(request) },
    returning("async stream", crowd) { streams.yield(request) },
    returning("passthrough subject", crowd) { subject.send(request) },
  ]
  return Contest(
    id: id, unit: "post", contestants: contestants,
    comparisons: contestants.dropFirst().map { .of(against: $0.name) })
}

/// Sets up the contest of a hub that threads post to at once, more of them than there are cores.
///
/// What counts is the time until the last thread has posted its share, with the waking of the threads.
///
/// - Parameter counts: how many threads each contestant has.
/// - Returns: the contest.
private func threads(_ counts: [Int]) -> Contest {
  // Long bursts: waking the threads takes a millisecond where other programs run.
  let crowd = Crowd(10, burst: 64_000)
  let hub = hub(of: crowd)
  func name(_ count: Int) -> String { "hub, \(count) \(count == 1 ? "thread" : "threads")" }
  func contestant(_ count: Int) -> Contestant {
    let threads = Threads(count)
    let share = Posters.threads(threads).share(of: crowd.burst)
    return Contestant(
      name(count), units: crowd.burst, keeping: [crowd],
      timing: { iterations in
        var total: Nanoseconds = 0
        for _ in 0..<iterations {
          crowd.start()
          let end = Atomic<UInt64>(0)
          let start = now()
          await threads.together { _ in
            for _ in 0..<share { hub.notify((any Listener).self) { $0.didPerform(request) } }
            end.max(now(), ordering: .relaxed)
          }
          total += Nanoseconds(end.load(ordering: .relaxed) - start)
          await crowd.wait()
          await hub.drain()
        }
        return total
      })
  }
  return Contest(
    id: "post.threads", unit: "post", contestants: counts.map(contestant),
    comparisons: [
      .of("hub, 4 threads", against: "hub, 1 thread"),
      .of("hub, 8 threads", against: "hub, 1 thread"),
      .of("hub, 16 threads", against: "hub, 1 thread", target: .within(1 / 0.6, noise: .wakes)),
    ])
}

/// Makes a hub whom a crowd listens to.
private func hub(of crowd: Crowd<BurstListener>) -> DelegateHub {
  let hub = DelegateHub()
  for listener in crowd.listeners { hub.subscribe(listener, to: (any Listener).self) }
  return hub
}

/// Makes a contestant of a hub, which is at rest again before the next burst is posted.
///
/// - Parameters:
///   - name: what the table calls it.
///   - crowd: who is told.
///   - hub: whom the crowd is subscribed to.
///   - posters: how many tasks share a burst.
/// - Returns: the contestant.
private func returning(
  _ name: String, _ crowd: Crowd<BurstListener>, _ hub: DelegateHub, posters: Int = 1
) -> Contestant {
  returning(name, crowd, posters: posters, rest: { await hub.drain() }) {
    hub.notify((any Listener).self) { $0.didPerform(request) }
  }
}

/// Makes a contestant of whom only the posting counts, not the deliveries.
///
/// A turn's result is its middle burst: where few bursts fit into a turn, a poster that the kernel took
/// off its core once would otherwise make the whole figure.
///
/// - Parameters:
///   - name: what the table calls it.
///   - crowd: who is told.
///   - posters: how many tasks share a burst; what counts is the time that each posts, not that it waits
///     for a thread.
///   - rest: waits until nothing is left to do.
///   - post: posts one notification.
/// - Returns: the contestant.
private func returning(
  _ name: String, _ crowd: Crowd<BurstListener>, posters: Int = 1,
  rest: @escaping @Sendable () async -> Void = {}, _ post: @escaping @Sendable () -> Void
) -> Contestant {
  let share = burst / posters
  precondition(share * posters == burst, "posters cannot share a burst of \(burst)")
  return Contestant(
    name, units: burst, keeping: [crowd],
    timing: { iterations in
      var bursts: [Nanoseconds] = []
      for _ in 0..<iterations {
        crowd.start()
        let total = Atomic<UInt64>(0)
        await together(posters) { _ in
          let start = now()
          for _ in 0..<share { post() }
          total.wrappingAdd(now() - start, ordering: .relaxed)
        }
        bursts.append(Nanoseconds(total.load(ordering: .relaxed)))
        await crowd.wait()
        await rest()
      }
      return Samples(bursts).median * Double(iterations)
    })
}

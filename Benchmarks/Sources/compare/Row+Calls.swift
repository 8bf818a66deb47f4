import Delegation

extension Row {
  static let all = calls + tellings + questions + streams + [.subscribing] + memory + callers

  /// Delegates, each with everybody subscribed.
  private struct Stage: Sendable {
    let end = Countdown()
    let members: [Member]
    let hub = Delegates<any Delegate>()
    let loop = MutexLoop()
    let center = Center()
    let queues = QueueForEach()
    let tasks: TaskForEach
    let actor: ActorLoop
    let streams = Streams()

    init(_ size: Int, isCounted: Bool = false) {
      members = (0..<size).map { [end] _ in Member(end, isCounted: isCounted) }
      tasks = TaskForEach(members)
      actor = ActorLoop(members)
      for member in members {
        hub.registry.subscribe(member)
        loop.add(member)
        center.add(member)
        queues.add(member)
        streams.add(member)
      }
    }

    /// Times all of it, for as many times.
    func turn(_ body: nonisolated(nonsending) @escaping @Sendable (Int) async -> Void) -> Turn {
      { [self] times in
        await stopwatch {
          for number in 0..<times { await body(number) }
          withExtendedLifetime(self) {}
        }
      }
    }

    /// Times bursts, each until the last handler has ended.
    func bursts(
      of length: Int, _ post: nonisolated(nonsending) @escaping @Sendable (Int) async -> Void
    ) -> Turn {
      turn { [self] _ in
        end.start(length * members.count)
        for number in 0..<length { await post(number) }
        await end.wait()
      }
    }

    /// Times a burst until the last post has returned; the rest is waited for as well, untimed.
    func posts(
      of length: Int, _ post: nonisolated(nonsending) @escaping @Sendable (Int) async -> Void
    ) -> Turn {
      { [self] times in
        var elapsed = 0.0
        for _ in 0..<times {
          end.start(length * members.count)
          elapsed += await stopwatch { for number in 0..<length { await post(number) } }
          await end.wait()
        }
        return elapsed
      }
    }
  }

  /// Those that tell without waiting.
  private static func tellers(
    _ stage: Stage, _ kind: (@escaping @Sendable (Int) async -> Void) -> Turn
  ) -> [(Peer, Turn)] {
    [
      (.hub, kind { number in stage.hub.notify { $0.didPerform(number) } }),
      (.center, kind { number in stage.center.post(number) }),
      (.stream, kind { number in stage.streams.post(number) }),
      (.tasks, kind { number in await stage.tasks.notify { $0.didPerform(number) } }),
      (.queues, kind { number in stage.queues.notify { $0.didPerform(number) } }),
    ]
  }

  private static let calls = [
    Row(name: "call now") { size in
      let stage = Stage(size)
      return [
        (.hub, stage.turn { number in stage.hub.forEach { $0.didPerform(number) } }),
        (.loop, stage.turn { number in stage.loop.call { $0.didPerform(number) } }),
        (.center, stage.turn { number in stage.center.post(number) }),
      ]
    }
  ]

  private static let tellings = [
    Row(name: "tell, in bursts of 100", units: { $0 * 100 }) { size in
      let stage = Stage(size, isCounted: true)
      return tellers(stage) { stage.bursts(of: 100, $0) }
    },
    Row(name: "tell, until the poster goes on", isWhole: false, units: { _ in 100 }) { size in
      let stage = Stage(size, isCounted: true)
      return tellers(stage) { stage.posts(of: 100, $0) }
    },
    Row(name: "tell, and wait") { size in
      let (stage, counted) = (Stage(size), Stage(size, isCounted: true))
      let (hub, tasks, queues) = (stage.hub, stage.tasks, counted.queues)
      return [
        (.hub, stage.turn { number in await hub.notifyAndWait { $0.didPerform(number) } }),
        (.center, stage.turn { number in stage.center.post(number) }),
        (.stream, counted.bursts(of: 1) { number in counted.streams.post(number) }),
        (.tasks, stage.turn { number in await tasks.notifyAndWait { $0.didPerform(number) } }),
        (.queues, counted.bursts(of: 1) { number in queues.notify { $0.didPerform(number) } }),
      ]
    },
  ]

  private static let questions = [
    Row(name: "ask, nobody awaits") { size in
      let stage = Stage(size)
      let (hub, loop, tasks) = (stage.hub, stage.loop, stage.tasks)
      return [
        (.hub, stage.turn { number in check(await hub.vote { $0.allows(number) }) }),
        (.loop, stage.turn { number in check(loop.vote { $0.allows(number) }) }),
        (.tasks, stage.turn { number in check(await tasks.vote { $0.allows(number) }) }),
      ]
    },
    Row(name: "ask, awaiting") { size in
      let stage = Stage(size)
      let (hub, loop, tasks) = (stage.hub, stage.actor, stage.tasks)
      return [
        (.hub, stage.turn { number in check(await hub.vote { await $0.mayPerform(number) }) }),
        (.loop, stage.turn { number in check(await loop.vote { await $0.mayPerform(number) }) }),
        (.tasks, stage.turn { number in check(await tasks.vote { await $0.mayPerform(number) }) }),
      ]
    },
    Row(name: "ask, each suspends once") { size in
      let stage = Stage(size)
      let (hub, loop, tasks) = (stage.hub, stage.actor, stage.tasks)
      return [
        (.hub, stage.turn { now in check(await hub.vote { await $0.mayPerformLater(now) }) }),
        (.loop, stage.turn { now in check(await loop.vote { await $0.mayPerformLater(now) }) }),
        (.tasks, stage.turn { now in check(await tasks.vote { await $0.mayPerformLater(now) }) }),
      ]
    },
  ]

  /// Those of other rows, of whom two call at once.
  private static let callers = [("forEach", calls[0]), ("vote", questions[0])].map { name, row in
    Row(name: "two callers at once, \(name)", unit: .callers, isWhole: false, sizes: [1, 3, 10]) {
      size in
      await row.contestants(size).filter { [.hub, .loop].contains($0.0) }
    }
  }

  /// Nobody objects, and everybody was asked.
  private static func check(_ isPassed: Bool) {
    precondition(isPassed, "nobody objects")
  }

  private static let subscribing = Row(name: "subscribe, and cancel") { size in
    let stage = Stage(size)
    let (loop, center, visitor) = (stage.loop, stage.center, Member(stage.end, isCounted: false))
    return [
      (.hub, stage.turn { _ in stage.hub.registry.subscribe(visitor).cancel() }),
      (
        .loop,
        stage.turn { _ in
          loop.add(visitor)
          loop.remove(visitor)
        }
      ),
      (.center, stage.turn { _ in center.remove(center.add(visitor)) }),
    ]
  }
}

import Delegation

/// What is not an operation beside something else, but one that is about many things itself.
struct Row: Sendable {
  let operation: String
  let dependency: String
  let expected: Expected
  let sizes: [Int]
  /// Whether it is one of those that CI measures.
  let isQuick: Bool
  private let body: @Sendable (Int, Counting) async -> Void

  /// Has a piece of the row counted.
  typealias Counting = @Sendable (nonisolated(nonsending) () async -> Void) async -> Void

  init(
    _ operation: String, _ dependency: String, _ expected: Expected, size: Int? = nil,
    isQuick: Bool = false, _ body: @escaping @Sendable (Int, Counting) async -> Void
  ) {
    self.operation = operation
    self.dependency = dependency
    self.expected = expected
    let size = size ?? (expected == .level ? 4_000 : 200)
    sizes = [size, 2 * size]
    self.isQuick = isQuick
    self.body = body
  }

  func run(_ size: Int) async {
    for round in 0..<4 {
      await body(size) { work in
        if round == 0 {
          await work()
        } else {
          await Growth.count(operation, dependency, size, expected, work)
        }
      }
    }
  }

  static let all =
    withBacklog + manyTimes + [
      givenUp("that many drains end at their deadline", within: .seconds(2)) { _ in },
      givenUp("that many drains are cancelled", within: nil) { task in task.cancel() },
    ]
}

private typealias L = any Listener

extension Row {
  /// A subscription for which many notifications wait.
  private static func backlog(
    _ operation: String, _ expected: Expected, mailbox: DelegateHub.MailboxPolicy = .unbounded,
    _ work: @escaping @Sendable (Scene, DelegateHub.Subscription) async -> Void
  ) -> Row {
    let place = mailbox == .unbounded ? "its mailbox" : "its limited mailbox"
    return Row(operation, "notifications that wait in \(place)", expected) { size, count in
      let scene = await Scene()
      let gate = Gate()
      let member = Member()
      scene.subscription.cancel()
      let subscription = scene.hub.subscribe(member, to: L.self, id: "seat", mailbox: mailbox)
      await scene.settle()
      for _ in 0..<size { scene.hub.notify(L.self) { _ in await gate.pass() } }
      await gate.waitForArrivals(1)
      await scene.settle()
      await count { await work(scene, subscription) }
      gate.open()
      await scene.end()
      withExtendedLifetime(member) {}
    }
  }

  /// Tasks that wait for a handler that does not end meanwhile.
  private static func givenUp(
    _ operation: String, within duration: Duration?,
    _ giveUp: @escaping @Sendable (Task<Void, Never>) -> Void
  ) -> Row {
    Row(operation, "their number", .linear, size: 4_000) { size, count in
      let scene = await Scene()
      let gate = Gate()
      scene.hub.notify(L.self) { _ in await gate.pass() }
      await gate.waitForArrivals(1)
      await count {
        let tasks = (0..<size).map { _ in Task { _ = await scene.hub.drain(within: duration) } }
        for _ in 0..<4 { await Task.yield() }
        for task in tasks { giveUp(task) }
        for task in tasks { await task.value }
      }
      gate.open()
      await scene.end()
    }
  }

  fileprivate static let withBacklog: [Row] = [
    backlog("cancel", .linear) { $1.cancel() },
    backlog("cancel", .linear, mailbox: .dropOldest(limit: 1 << 20)) { $1.cancel() },
    backlog("take over its id", .level) { scene, _ in
      scene.hub.subscribe(scene.successor, to: L.self, id: "seat")
    },
    backlog("take over its id", .level, mailbox: .dropOldest(limit: 1 << 20)) { scene, _ in
      scene.hub.subscribe(scene.successor, to: L.self, id: "seat")
    },
    backlog("subscribe another with a limit in its place", .linear) { scene, _ in
      scene.hub.subscribe(scene.successor, to: L.self, id: "seat", mailbox: .latest)
    },
    backlog("Subscription.statistics", .level) { _ = $1.statistics },
    backlog("Subscription.statistics", .level, mailbox: .dropOldest(limit: 1 << 20)) {
      _ = $1.statistics
    },
    backlog("drain(within:), too late", .level) { scene, _ in
      _ = await scene.hub.drain(within: .zero)
    },
    backlog("notifyAndWait(within:), too late", .level) { scene, _ in
      await scene.hub.notifyAndWait(L.self, within: .zero) { _ in }
    },
  ]

  /// The same operation many times: what it costs now and then is in there.
  fileprivate static let manyTimes: [Row] = [
    Row("that many subscribe", "their number", .linear, size: 1_000) { size, count in
      let scene = await Scene()
      let members = (0..<size).map { _ in Member() }
      await count {
        for member in members { scene.hub.subscribe(member, to: L.self) }
        await scene.settle()
      }
      await scene.end()
      withExtendedLifetime(members) {}
    },
    Row("that many cancel", "their number", .linear, size: 1_000) { size, count in
      let scene = await Scene()
      let members = (0..<size).map { _ in Member() }
      let subscriptions = members.map { scene.hub.subscribe($0, to: L.self) }
      await scene.settle()
      await count {
        for subscription in subscriptions { subscription.cancel() }
        await scene.settle()
      }
      await scene.end()
      withExtendedLifetime(members) {}
    },
    Row("unsubscribeAll", "subscribers", .linear, size: 1_000) { size, count in
      let scene = await Scene()
      let members = (0..<size).map { _ in Member() }
      for member in members { scene.hub.subscribe(member, to: L.self) }
      await scene.settle()
      await count { scene.hub.unsubscribeAll(from: L.self) }
      await scene.end()
      withExtendedLifetime(members) {}
    },
    Row("that many take over one id in turn", "their number", .linear) { size, count in
      let scene = await Scene()
      let members = (0..<size).map { _ in Member() }
      await count {
        for member in members { scene.hub.subscribe(member, to: L.self, id: "seat") }
        await scene.settle()
      }
      await scene.end()
      withExtendedLifetime(members) {}
    },
    Row("notify that many times, and the drain", "their number", .linear) { size, count in
      let scene = await Scene()
      await count {
        for _ in 0..<size { scene.hub.notify(L.self) { await $0.didPass() } }
        await scene.hub.drain()
      }
      await scene.end()
    },
    Row("that many votes within a time, one after another", "their number", .linear) {
      size, count in
      let scene = await Scene()
      await count {
        for _ in 0..<size {
          _ = await scene.hub.vote(L.self, within: .seconds(600), absent: .abstains) {
            await $0.mayPass()
          }
        }
      }
      await scene.end()
    },
    Row("that many tasks drain, and go on", "their number", .waits) { size, count in
      let scene = await Scene()
      let gate = Gate()
      scene.hub.notify(L.self) { _ in await gate.pass() }
      await gate.waitForArrivals(1)
      await count {
        let tasks = (0..<size).map { _ in Task { await scene.hub.drain() } }
        for _ in 0..<4 { await Task.yield() }
        gate.open()
        for task in tasks { _ = await task.value }
      }
      await scene.end()
    },
    Row("a hub is released", "its subscribers", .linear) { size, count in
      let members = (0..<size).map { _ in Member() }
      var hub: DelegateHub? = DelegateHub()
      for member in members { hub?.subscribe(member, to: L.self) }
      await hub?.drain()
      await count { hub = nil }
      withExtendedLifetime(members) {}
    },
  ]
}

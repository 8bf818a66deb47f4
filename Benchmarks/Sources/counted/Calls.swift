import Delegation

/// One call of each kind: what `.ci/calls` makes its table of.
struct Calls {
  typealias Work = () async -> Void

  private let delegates: Delegates<any Listener>
  private let members: [Member]
  private var number: Int { members.count }

  private init(among number: Int, within interceptors: [any DelegateHub.Interceptor] = []) {
    members = (0..<number).map { _ in Member() }
    delegates = Delegates(of: DelegateHub(.init(interceptors: interceptors)))
    for member in members { delegates.registry.subscribe(member) }
  }

  static func run() async {
    for number in [1, 3, 10] { await Calls(among: number).all() }
    for number in [2, 5, 100] { await Calls(among: number).votes() }
    for number in [1, 100] { await Calls(among: number).bursts() }
    for number in [1, 10] { await Calls(among: number, within: [Idle()]).intercepted() }
    await streams()
    await replays()
    await Calls(among: 10).subscribing()
    await Calls(among: 100).loop()
  }

  /// Does something often enough to be warm, then has it counted.
  private static func count(
    _ name: String, among number: Int = 1, units: Int = 1, before: Work = {}, after: Work = {},
    _ work: Work
  ) async {
    for round in 0..<53 {
      await before()
      if round < 50 {
        await work()
      } else {
        await Counted.count("\(name)|\(number)|\(units)", work)
      }
      await after()
    }
  }

  private func count(_ name: String, _ work: Work) async {
    await Self.count(name, among: number, work)
  }

  private static func check(_ isRight: Bool) {
    guard isRight else { fatalError("nobody objects, and all are as heavy") }
  }

  private func all() async {
    await count("`forEach`") { delegates.forEach { $0.didPass(7) } }
    await count("`notify`, and `drain`") {
      delegates.notify { $0.didPass(7) }
      await delegates.hub.drain()
    }
    await count("`notifyAndWait`") { await delegates.notifyAndWait { $0.didPass(7) } }
    // And the drain, so that what it leaves is not the next one's.
    await count("`notifyAndWait(leaving: 2)`, and `drain`") {
      await delegates.notifyAndWait(leaving: 2) { $0.didPass(7) }
      await delegates.hub.drain()
    }
    await votes()
    await count("`vote` within a minute") {
      Self.check(
        await delegates.vote(within: .seconds(60), absent: .counts(as: false)) {
          await $0.mayPass(7)
        })
    }
    await count("`ask`") {
      Self.check(await delegates.ask(combining: .sum()) { await $0.weigh(7) } == 7 * number)
    }
    await count("synchronous `ask`") {
      Self.check(await delegates.ask(combining: .sum()) { $0.measure(7) } == 7 * number)
    }
    await count("`collect`") {
      Self.check(await delegates.collect { await $0.weigh(7) }.count == number)
    }
    await count("`askInTurn`") {
      Self.check(await delegates.askInTurn { await $0.find(7) } == nil)
    }
    await count("`pass`") { Self.check(await delegates.pass(7) { await $0.weigh($1) } == 7) }
    let guests = delegates.hub[(any Guest).self]
    for member in members { guests.registry.subscribe(member) }
    await count("`forEach`, a protocol without `: AnyObject`") { guests.forEach { $0.didPass(7) } }
  }

  private func votes() async {
    await count("`vote`") { Self.check(await delegates.vote { await $0.mayPass(7) }) }
    await count("synchronous `vote`") { Self.check(await delegates.vote { $0.maySit(7) }) }
  }

  private func bursts() async {
    await Self.count("a delivery, in bursts of 10", among: number, units: number * 10) {
      for _ in 0..<10 { delegates.notify { $0.didPass(7) } }
      await delegates.hub.drain()
    }
    // The first one wakes the hub.
    await Self.count(
      "a post while the hub is awake", among: number, units: 20,
      before: { delegates.notify { $0.didPass(7) } }, after: { await delegates.hub.drain() }
    ) {
      for _ in 0..<20 { delegates.notify { $0.didPass(7) } }
    }
  }

  private struct Idle: DelegateHub.Interceptor {
    nonisolated(nonsending) func intercept(
      _ call: DelegateHub.HandlerCall,
      next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
    ) async -> DelegateHub.HandlerOutcome { await next() }
  }

  private func intercepted() async {
    await count("`vote`, an interceptor that does nothing") {
      Self.check(await delegates.vote { await $0.mayPass(7) })
    }
  }

  private static func streams() async {
    let events = Events<Int>()
    let stream = events.registry.stream()
    var iterator = stream.makeAsyncIterator()
    events.post(7)
    _ = await iterator.next()
    await count("an event of a stream, one at a time") {
      events.post(7)
      check(await iterator.next() == 7)
    }
    await count("an event of a stream, in bursts of 10", units: 10) {
      for _ in 0..<10 { events.post(7) }
      for _ in 0..<10 { check(await iterator.next() == 7) }
    }
    await count("`next` on a stream") {
      events.post(7)
      check(await stream.next() == 7)
    }
    stream.subscription.cancel()
    check(await iterator.next() == nil)
    await count("`once`, and the event") {
      events.registry.once { _ in }
      events.post(7)
      await events.hub.drain()
    }
    var wanted = events.demand.makeAsyncIterator()
    check(await wanted.next() == false)
    await count("a change of `demand`, both ways") {
      let subscription = events.registry.observe { _ in }
      check(await wanted.next() == true)
      subscription.cancel()
      check(await wanted.next() == false)
    }
  }

  private static func replays() async {
    let states = Events<Int>(replaying: 4)
    for number in 1...4 { states.post(number) }
    await count("a stream made, one of 4 replayed taken, and released") {
      check(await states.registry.stream().next() == 1)
    }
    await count("a post that is kept, to nobody", among: 0, units: 10) {
      for number in 1...10 { states.post(number) }
    }
  }

  private func subscribing() async {
    let (visitor, heir) = (Member(), Member())
    await count("subscribe and cancel") { delegates.registry.subscribe(visitor).cancel() }
    await count("subscribe and finish") { delegates.registry.subscribe(visitor).finish() }
    await count("subscribe twice, with options, and cancel") {
      delegates.registry.subscribe(visitor, priority: 1, mailbox: .latest)
      delegates.registry.subscribe(visitor, priority: 2, mailbox: .unbounded).cancel()
    }
    await Self.count("take over an `id:`", among: number, units: 2) {
      delegates.registry.subscribe(heir, id: "seat")
      delegates.registry.subscribe(visitor, id: "seat")
    }
  }

  /// What a vote is compared with.
  private func loop() async {
    struct Box {
      weak var member: (any Listener)?
    }
    let boxes = members.map { Box(member: $0) }
    await Self.count("a turn of a loop over weak references", among: number, units: number) {
      for box in boxes { Self.check(await box.member?.mayPass(7) == true) }
    }
  }
}

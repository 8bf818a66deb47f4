import Delegation

/// One call of each kind: what `.ci/calls` makes its table of.
enum Calls {
  typealias Work = () async -> Void

  static func run() async {
    for number in [1, 3, 10] {
      await notifications(among: number)
      await questions(among: number)
      await inTurn(among: number)
    }
    for number in [2, 5, 100] { await vote(among: number) }
    for number in [1, 100] { await deliveries(to: number) }
    await post(to: 100)
    await streams()
    await replays()
    await subscribing()
    await loop(over: 100)
  }

  /// Does something often enough to be warm, then has it counted: twice, for the first time the other threads stand still
  /// some code may run that did not run before.
  private static func count(_ name: String, units: Int = 1, _ work: Work) async {
    for _ in 0..<50 { await work() }
    for _ in 0..<2 { await Counted.step(name, units: units, work) }
  }

  private static func check(_ isRight: Bool) {
    guard isRight else { fatalError("nobody objects, and all are as heavy") }
  }

  /// Delegates with so many who have subscribed.
  private static func stage(_ number: Int) -> (Delegates<any Listener>, [Member]) {
    let (delegates, members) = (Delegates<any Listener>(), (0..<number).map { _ in Member() })
    for member in members { delegates.registry.subscribe(member) }
    return (delegates, members)
  }

  private static func notifications(among number: Int) async {
    let (delegates, members) = stage(number)
    await count("`forEach` among \(number)") { delegates.forEach { $0.didPass(7) } }
    await count("`notify` among \(number), and `drain`") {
      delegates.notify { $0.didPass(7) }
      await delegates.hub.drain()
    }
    await count("`notifyAndWait` among \(number)") {
      await delegates.notifyAndWait { $0.didPass(7) }
    }
    // And the drain, so that what it leaves is not the next one's.
    await count("`notifyAndWait(leaving: 2)` among \(number), and `drain`") {
      await delegates.notifyAndWait(leaving: 2) { $0.didPass(7) }
      await delegates.hub.drain()
    }
    withExtendedLifetime(members) {}
  }

  private static func questions(among number: Int) async {
    let (delegates, members) = stage(number)
    await count("`vote` among \(number)") {
      check(await delegates.vote { await $0.mayPass(7) })
    }
    await count("synchronous `vote` among \(number)") {
      check(await delegates.vote { $0.maySit(7) })
    }
    await count("`vote` within a minute among \(number)") {
      check(
        await delegates.vote(within: .seconds(60), absent: .counts(as: false)) {
          await $0.mayPass(7)
        })
    }
    await count("`ask` among \(number)") {
      check(await delegates.ask(combining: .sum()) { await $0.weigh(7) } == 7 * number)
    }
    await count("synchronous `ask` among \(number)") {
      check(await delegates.ask(combining: .sum()) { $0.measure(7) } == 7 * number)
    }
    await count("`collect` among \(number)") {
      check(await delegates.collect { await $0.weigh(7) }.count == number)
    }
    withExtendedLifetime(members) {}
  }

  private static func inTurn(among number: Int) async {
    let (delegates, members) = stage(number)
    await count("`askInTurn` among \(number)") {
      check(await delegates.askInTurn { await $0.find(7) } == nil)
    }
    await count("`pass` through \(number)") {
      check(await delegates.pass(7) { await $0.weigh($1) } == 7)
    }
    withExtendedLifetime(members) {}
  }

  private static func vote(among number: Int) async {
    let (delegates, members) = stage(number)
    await count("`vote` among \(number)") {
      check(await delegates.vote { await $0.mayPass(7) })
    }
    await count("synchronous `vote` among \(number)") {
      check(await delegates.vote { $0.maySit(7) })
    }
    withExtendedLifetime(members) {}
  }

  private static func deliveries(to number: Int) async {
    let (delegates, members) = stage(number)
    await count("a delivery to one of \(number), in bursts of 10", units: number * 10) {
      for _ in 0..<10 { delegates.notify { $0.didPass(7) } }
      await delegates.hub.drain()
    }
    withExtendedLifetime(members) {}
  }

  private static func post(to number: Int) async {
    let (delegates, members) = stage(number)
    for _ in 0..<52 {
      // The first one wakes the hub.
      delegates.notify { $0.didPass(7) }
      await Counted.step("a post to \(number) while the hub is awake", units: 20) {
        for _ in 0..<20 { delegates.notify { $0.didPass(7) } }
      }
      await delegates.hub.drain()
    }
    withExtendedLifetime(members) {}
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
  }

  private static func replays() async {
    let states = Events<Int>(replaying: 4)
    for number in 1...4 { states.post(number) }
    await count("a stream made, one of 4 replayed taken, and released") {
      check(await states.registry.stream().next() == 1)
    }
    await count("a post that is kept, to nobody", units: 10) {
      for number in 1...10 { states.post(number) }
    }
    let events = Events<Int>()
    var wanted = events.demand.makeAsyncIterator()
    check(await wanted.next() == false)
    await count("a change of `demand`, both ways") {
      let subscription = events.registry.observe { _ in }
      check(await wanted.next() == true)
      subscription.cancel()
      check(await wanted.next() == false)
    }
    await count("`once`, and the event") {
      events.registry.once { _ in }
      events.post(7)
      await events.hub.drain()
    }
  }

  private static func subscribing() async {
    let (delegates, members) = stage(10)
    let (visitor, heir) = (Member(), Member())
    await count("subscribe and cancel, beside 10") {
      delegates.registry.subscribe(visitor).cancel()
    }
    await count("subscribe and finish, beside 10") {
      delegates.registry.subscribe(visitor).finish()
    }
    await count("take over an `id:` and back, beside 10", units: 2) {
      delegates.registry.subscribe(heir, id: "seat")
      delegates.registry.subscribe(visitor, id: "seat")
    }
    withExtendedLifetime((members, visitor, heir)) {}
  }

  /// What a vote is compared with.
  private static func loop(over number: Int) async {
    struct Box {
      weak var member: (any Listener)?
    }
    let members = (0..<number).map { _ in Member() }
    let boxes = members.map { Box(member: $0) }
    await count("a turn of a loop over \(number) weak references", units: number) {
      for box in boxes { check(await box.member?.mayPass(7) == true) }
    }
    withExtendedLifetime(members) {}
  }
}

import Delegation

extension Counted {
  /// One call of each kind, among one, a few and some.
  @concurrent
  static func calls() async {
    for number in [1, 3, 10] {
      let hub = DelegateHub()
      let members = (0..<number).map { _ in Member() }
      for member in members { hub.subscribe(member, to: (any Listener).self) }
      await notifications(of: hub, among: number)
      await questions(of: hub, among: number)
      await turns(of: hub, among: number)
      withExtendedLifetime(members) {}
    }
  }

  private static func notifications(of hub: DelegateHub, among number: Int) async {
    await count("`forEach` among \(number)") {
      hub[(any Listener).self].forEach { $0.didPass(7) }
    }
    await count("`notify` among \(number), and `drain`") {
      hub[(any Listener).self].notify { $0.didPass(7) }
      await hub.drain()
    }
    await count("`notifyAndWait` among \(number)") {
      await hub[(any Listener).self].notifyAndWait { $0.didPass(7) }
    }
  }

  private static func questions(of hub: DelegateHub, among number: Int) async {
    await count("`vote` among \(number)") {
      let isPassed = await hub[(any Listener).self].vote { await $0.mayPass(7) }
      guard isPassed else { fatalError("nobody objects") }
    }
    await count("synchronous `vote` among \(number)") {
      let isPassed = await hub[(any Listener).self].vote { $0.maySit(7) }
      guard isPassed else { fatalError("nobody objects") }
    }
    await count("`vote` within a minute among \(number)") {
      let isPassed = await hub[(any Listener).self].vote(within: .seconds(60), absent: .counts(as: false)
      ) { await $0.mayPass(7) }
      guard isPassed else { fatalError("nobody objects") }
    }
    await count("`ask` among \(number)") {
      let weight = await hub[(any Listener).self].ask(combining: .sum()) { await $0.weigh(7) }
      guard weight == 7 * number else { fatalError("all weigh the same") }
    }
    await count("synchronous `ask` among \(number)") {
      let height = await hub[(any Listener).self].ask(combining: .sum()) { $0.measure(7) }
      guard height == 7 * number else { fatalError("all are as tall") }
    }
    await count("`collect` among \(number)") {
      let replies = await hub[(any Listener).self].collect { await $0.weigh(7) }
      guard replies.count == number else { fatalError("all reply") }
    }
  }

  private static func turns(of hub: DelegateHub, among number: Int) async {
    await count("`askInTurn` among \(number)") {
      let found = await hub[(any Listener).self].askInTurn { await $0.find(7) }
      guard found == nil else { fatalError("nobody finds any") }
    }
    await count("`pass` through \(number)") {
      let weight = await hub[(any Listener).self].pass(7) { await $0.weigh($1) }
      guard weight == 7 else { fatalError("nobody changes it") }
    }
  }

  /// Counts a call three times: the first may set something up that later ones find.
  private static func count(_ name: String, _ call: () async -> Void) async {
    await count(name, units: 1, times: 3, call)
  }
}

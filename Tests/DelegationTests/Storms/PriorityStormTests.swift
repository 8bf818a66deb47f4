import Testing

@testable import Delegation

@Suite("Storm: priorities that change while the hub is asked", .inTurn(.heavy))
struct PriorityStormTests {
  private static let pool = ThreadPool(threads: 4)

  @Test(
    "those whose priority does not change are served in the order in which they subscribed",
    arguments: seeds(1))
  func order(seed: UInt64) async {
    let hub = DelegateHub(on: Self.pool)
    let members = Probe.many(60)
    // Every third one stays as it is.
    let fixed = Set(members.indices.filter { $0 % 3 == 0 }.map { members[$0].name })
    for member in members { hub.subscribe(member, to: Listener.self) }
    let wrong = Recorder<[String]>()
    let end = Gate()
    await withTaskGroup { group in
      for task in 0..<2 {
        group.addTask(executorPreference: Self.pool) {
          var dice = Dice(seed: seed * 10 + UInt64(task))
          while end.arrived < 2 {
            let member = members[dice.roll(20) * 3 + 1 + task]
            hub.subscribe(member, to: Listener.self, priority: dice.roll(3) - 1)
            if dice.roll(8) == 0 { await Task.yield() }
          }
        }
        group.addTask(executorPreference: Self.pool) {
          for _ in races(250) {
            let names = hub[Listener.self].subscribers.map(\.name)
            let order = names.filter(fixed.contains)
            if order != order.sorted(by: { Int($0) ?? 0 < Int($1) ?? 0 }) { wrong.record(order) }
            if names.count != members.count { wrong.record(names) }
          }
          end.arrive()
        }
      }
    }
    #expect(wrong.history.isEmpty, "\(wrong.history.count) times")
    withExtendedLifetime(members) {}
  }
}

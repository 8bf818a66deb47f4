// This module's import is enough by itself.
import DelegationTesting

nonisolated func testing() async {
  let (executor, clock) = (ManualExecutor(), ManualClock())
  let hub = DelegateHub(on: executor, clock: clock)
  let bouncer = Bouncer()
  hub.subscribe(bouncer, to: (any Door).self)
  hub[(any Door).self].notify { $0.didEnter("Alice") }
  bouncer.log.expect()
  executor.run()
  bouncer.log.expect("didEnter", at: Place.current)

  let mayEnter = try? executor.drive(advancing: clock) {
    await hub[(any Door).self].vote(within: .seconds(3600), absent: .counts(as: false)) {
      await $0.mayEnter("Alice")
    }
  }
  Checks.expect(mayEnter, is: true)

  let exploration = try? exploreSchedules(seeds: 0..<20) { executor in
    let hub = DelegateHub(on: executor, clock: executor.clock)
    let bouncer = Bouncer()
    hub.subscribe(bouncer, to: (any Door).self, hold: .strongly)
    async let alice = hub[(any Door).self].vote { await $0.mayEnter("Alice") }
    async let mallory = hub[(any Door).self].vote { await $0.mayEnter("Mallory") }
    let answers = await [alice, mallory]
    if answers != [true, false] { throw Refusal() }
  }
  Checks.expect(exploration?.schedules, is: 20)
}

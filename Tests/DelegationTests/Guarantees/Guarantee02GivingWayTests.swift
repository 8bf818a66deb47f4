import Testing

@testable import Delegation

/// With everything on one executor that is driven by hand.
@Suite("Guarantee 2: what a wait within a handler passes over", .inTurn)
struct Guarantee02GivingWayTests {
  private let stage = Stage()

  @Test("a voter that waits for the subscription of the handler that asks it")
  func askedByOneOfThoseAwaited() {
    let (executor, events) = (stage.executor, Recorder<String>())
    let (doors, lamps) = (DelegateHub(on: executor), DelegateHub(on: executor))
    let (door, first, second) = (Probe("door"), Probe("first"), Probe("second"))
    let doorSubscription = doors.subscribe(door, to: Listener.self)
    let firstSubscription = lamps.subscribe(first, to: Listener.self)
    lamps.subscribe(second, to: Listener.self)
    let (other, running) = (Gate(), Gate())
    Task(executorPreference: executor) {
      await doors[Listener.self].vote() { _ in
        await other.pass()
        return true
      }
    }
    executor.run()
    Task(executorPreference: executor) {
      await doors[Listener.self].vote() { _ in
        await lamps[Listener.self].vote() { lamp in
          if lamp.name == "first" {
            // For the handler of the vote above; not for the one that asks.
            await doorSubscription.cancelAndWait()
            events.record("first goes on")
            await running.pass()
            events.record("first ends")
          } else {
            // Passes over the handler of the first.
            await firstSubscription.cancelAndWait()
            events.record("second goes on")
          }
          return true
        }
      }
    }
    executor.run()
    #expect(events.history == ["second goes on"])
    other.open()
    executor.run()
    #expect(events.history == ["second goes on", "first goes on"])
    running.open()
    executor.run()
    #expect(events.history == ["second goes on", "first goes on", "first ends"])
    withExtendedLifetime((door, first, second)) {}
  }
}

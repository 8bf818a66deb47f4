import DelegationTesting
import Testing

/// The samples of the page and of the comments.
@Suite("Samples of DelegationTesting", .inTurn)
struct DoorSamples {
  protocol DoorDelegate: AnyObject, Sendable {
    func mayEnter(_ guest: String) async -> Bool
    func didEnter(_ guest: String)
  }

  // sample: A spy with a recorder
  final class Spy: DoorDelegate {
    let guests = Recorder<String>()

    func mayEnter(_ guest: String) async -> Bool { guest != "Mallory" }
    func didEnter(_ guest: String) { guests.record(guest) }
  }
  // end of sample

  @Test("drain, then look", .timeLimit(.minutes(10)))
  func drain() async {
    let hub = DelegateHub()
    let spy = Spy()
    hub.subscribe(spy, to: DoorDelegate.self)

    hub[DoorDelegate.self].notify { $0.didEnter("Alice") }

    #expect(await hub.drain(within: .seconds(60)).isEmpty)
    #expect(spy.guests.events == ["Alice"])
  }

  @Test("by hand")
  func byHand() {
    let spy = Spy()
    // sample: A manual executor
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    hub.subscribe(spy, to: DoorDelegate.self)

    hub[DoorDelegate.self].notify { $0.didEnter("Alice") }
    #expect(spy.guests.events == [])  // nothing runs before it is told to

    executor.run()
    #expect(spy.guests.events == ["Alice"])
    // end of sample
    withExtendedLifetime(spy) {}
  }

  @Test("a whole history")
  func history() {
    let recorder = Recorder<String>()
    recorder.record("Alice")
    recorder.record("Bob")
    // sample: A history
    #expect(recorder.events == ["Alice", "Bob"])
    // end of sample
  }

  @Test("a call that is driven to its end")
  func drive() throws {
    let spy = Spy()
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    hub.subscribe(spy, to: DoorDelegate.self)
    // sample: Drive
    let mayEnter = try executor.drive {
      await hub[DoorDelegate.self].vote { await $0.mayEnter("Mallory") }
    }
    #expect(!mayEnter)
    // end of sample
    // sample: Start
    let vote = executor.start {
      await hub[DoorDelegate.self].vote { await $0.mayEnter("Mallory") }
    }
    #expect(vote.value == false)
    // end of sample
    withExtendedLifetime(spy) {}
  }

  private final class Sleeper: DoorDelegate {
    func mayEnter(_ guest: String) async -> Bool {
      await Gate().pass()
      return true
    }
    func didEnter(_ guest: String) {}
  }

  @Test("a deadline, without waiting for it")
  func deadline() throws {
    let sleeper = Sleeper()
    // sample: A deadline by hand
    let (executor, clock) = (ManualExecutor(), ManualClock())
    let hub = DelegateHub(on: executor, clock: clock)
    hub.subscribe(sleeper, to: DoorDelegate.self)  // does not answer

    let vote = executor.start {
      await hub[DoorDelegate.self].vote(within: .seconds(5), absent: .counts(as: false)) {
        await $0.mayEnter("Alice")
      }
    }
    clock.advance(by: .seconds(4))
    executor.run()
    #expect(vote.value == nil)  // it has not returned

    clock.advance(by: .seconds(1))
    executor.run()
    #expect(vote.value == false)
    // end of sample
    withExtendedLifetime(sleeper) {}
  }

  @Test("a deadline that comes by itself")
  func drivenDeadline() throws {
    let sleeper = Sleeper()
    let (executor, clock) = (ManualExecutor(), ManualClock())
    let hub = DelegateHub(on: executor, clock: clock)
    hub.subscribe(sleeper, to: DoorDelegate.self)
    // sample: A deadline, driven
    let mayEnter = try executor.drive(advancing: clock) {
      await hub[DoorDelegate.self].vote(within: .seconds(3600), absent: .counts(as: false)) {
        await $0.mayEnter("Alice")
      }
    }
    #expect(!mayEnter)
    // end of sample
    withExtendedLifetime(sleeper) {}
  }

  @Test("the second of two deadlines, with threads of its own", .timeLimit(.minutes(10)))
  func twoDeadlines() async throws {
    for _ in seeds(100) {
      let clock = ManualClock()
      let hub = DelegateHub(.init(clock: clock))
      let sleeper = Sleeper()
      hub.subscribe(sleeper, to: DoorDelegate.self)
      // sample: The second of two deadlines
      let doors = hub[DoorDelegate.self]
      async let alice = doors.vote(within: .seconds(5), absent: .counts(as: false)) {
        await $0.mayEnter("Alice")
      }
      async let bob = doors.vote(within: .seconds(10), absent: .counts(as: false)) {
        await $0.mayEnter("Bob")
      }
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(5))
      #expect(await !alice)
      // end of sample
      #expect(clock.sleepers == 1)
      clock.advance(by: .seconds(5))
      #expect(await !bob)
      #expect(clock.sleepers == 0)
      withExtendedLifetime(sleeper) {}
    }
  }

  @Test("time passes")
  func time() {
    let clock = ManualClock()
    // sample: An hour passes
    clock.advance(by: .seconds(3600))
    // end of sample
    #expect(clock.now.offset == .seconds(3600))
  }
}

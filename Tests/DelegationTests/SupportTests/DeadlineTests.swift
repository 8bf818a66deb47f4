import Testing

@testable import Delegation

@Suite("Deadline: a point in time by which a call has to return", .inTurn)
struct DeadlineTests {
  @Test("it is past from the start if there is no time at all")
  func isPast() {
    let clock = ManualClock()
    #expect(Deadline(after: .zero, on: clock).isPast)
    #expect(Deadline(after: .nanoseconds(-1), on: clock).isPast)
    #expect(!Deadline(after: .nanoseconds(1), on: clock).isPast)
  }

  @Test("to wait for one that is past takes no time, though the clock go backwards")
  func noTime() async {
    let clock = ManualClock()
    let deadline = Deadline(after: .zero, on: clock)
    clock.advance(by: .seconds(-5))
    await deadline.wait()
    #expect(clock.sleepers == 0)
  }

  @Test("it counts from when it was set, and the wait for it ends there")
  func countsFromStart() async {
    let clock = ManualClock()
    let deadline = Deadline(after: .seconds(5), on: clock)
    clock.advance(by: .seconds(3))
    let ends = Recorder<Duration>()
    let waiter = Task {
      await deadline.wait()
      ends.record(clock.now.offset)
    }
    #expect(await clock.alarms() == [.seconds(5)])
    #expect(ends.history == [])
    clock.advance(by: .seconds(2))
    await waiter.value
    #expect(ends.history == [.seconds(5)])
  }

  @Test("the wait for it ends when the task is cancelled")
  func cancelled() async {
    let clock = ManualClock()
    let deadline = Deadline(after: .seconds(5), on: clock)
    let waiter = Task { await deadline.wait() }
    _ = await clock.alarms()
    waiter.cancel()
    await waiter.value
    #expect(clock.sleepers == 0)
  }
}

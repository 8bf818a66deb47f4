import DelegationTesting
import Testing

@Suite("ManualClock", .inTurn)
struct ManualClockTests {
  private let executor = ManualExecutor()
  private let clock = ManualClock()
  private let woken = Recorder<Int>()

  @discardableResult
  private func sleep(_ number: Int, until seconds: Int) -> ManualExecutor.Call<Void, any Error> {
    executor.start { [clock, woken] in
      try await clock.sleep(until: .init(offset: .seconds(seconds)))
      woken.record(number)
    }
  }

  @Test("it stands still until it is advanced, and wakes those whose time has come, in order")
  func order() {
    for (number, seconds) in [3, 1, 2, 1, 5].enumerated() { sleep(number, until: seconds) }
    #expect(clock.now.offset == .zero && clock.sleepers == 5)
    #expect(clock.deadlines.map(\.offset) == [1, 1, 2, 3, 5].map { .seconds($0) })
    #expect(clock.nextDeadline?.offset == .seconds(1))
    clock.advance(by: .seconds(3))
    #expect(woken.events == [])
    executor.run()
    #expect(woken.events == [1, 3, 2, 0] && clock.sleepers == 1)
    clock.advance(to: .init(offset: .seconds(4)))
    executor.run()
    #expect(woken.count == 4 && clock.advanceToNextDeadline())
    executor.run()
    #expect(woken.events == [1, 3, 2, 0, 4] && clock.now.offset == .seconds(5))
    #expect(clock.nextDeadline == nil && !clock.advanceToNextDeadline())
  }

  @Test("a deadline that is past wakes at once, and a point that is past changes nothing")
  func past() {
    clock.advance(by: .seconds(5))
    clock.advance(to: .init(offset: .seconds(1)))
    #expect(clock.now.offset == .seconds(5))
    sleep(1, until: 5)
    sleep(2, until: 0)
    #expect(woken.events == [1, 2])
    let (early, late) = (
      ManualClock.Instant(offset: .seconds(1)), ManualClock.Instant(offset: .seconds(3))
    )
    #expect(early < late && early.duration(to: late) == .seconds(2))
    #expect("\(early.advanced(by: .seconds(2)))" == "3.0 seconds")
    #expect(clock.minimumResolution == .zero)
  }

  @Test("it can be put back, which wakes nobody")
  func back() {
    sleep(1, until: 2)
    clock.advance(by: .seconds(-3))
    executor.run()
    #expect(clock.now.offset == .seconds(-3) && woken.events == [])
    sleep(2, until: -1)
    clock.advance(by: .seconds(2))
    executor.run()
    #expect(woken.events == [2])
    clock.advanceToNextDeadline()
    executor.run()
    #expect(woken.events == [2, 1] && clock.now.offset == .seconds(2))
  }

  @Test("a cancelled sleep ends with an error, before it began or meanwhile, and leaves nothing")
  func cancellation() {
    let before = executor.start { [clock] in
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(1))
    }
    #expect(throws: CancellationError.self) { try before.result?.get() }
    let meanwhile = sleep(1, until: 1)
    let other = sleep(2, until: 2)
    meanwhile.cancel()
    #expect(clock.sleepers == 1 && clock.nextDeadline?.offset == .seconds(2))
    executor.run()
    #expect(throws: CancellationError.self) { try meanwhile.result?.get() }
    clock.advance(by: .seconds(2))
    executor.run()
    #expect(other.isOver && woken.events == [2] && clock.sleepers == 0)
  }

  @Test("a sleep that need not sleep lets other jobs of the executor go first")
  func givesWay() {
    clock.advance(by: .seconds(1))
    let cancelled = Task(executorPreference: executor) { [clock, woken] in
      try? await clock.sleep(for: .seconds(1))
      woken.record(1)
    }
    cancelled.cancel()
    Task(executorPreference: executor) { [clock, woken] in
      try? await clock.sleep(until: .init(offset: .zero))
      woken.record(2)
    }
    Task(executorPreference: executor) { [woken] in woken.record(3) }
    executor.run()
    #expect(woken.events == [3, 1, 2])
  }

  @Test("cancelling and advancing at the same time wakes each sleeper once")
  func race() async {
    for round in 0..<300 {
      let clock = ManualClock()
      let sleepers = (0..<4).map { _ in
        Task { () -> Bool in
          do {
            try await clock.sleep(for: .seconds(1))
            return true
          } catch {
            return false
          }
        }
      }
      if round.isMultiple(of: 2) { await clock.waitForSleepers(4) }
      onAnotherThread { for sleeper in sleepers { sleeper.cancel() } }
      clock.advance(by: .seconds(1))
      // Each ends: a continuation that is resumed twice stops the program, one that is not is waited
      // for.
      for sleeper in sleepers { _ = await sleeper.value }
      #expect(clock.sleepers == 0)
    }
  }

  @Test("the longest durations do not trap")
  func longest() {
    let vote = executor.start { [executor, clock] in
      await DelegateHub(on: executor, clock: clock)[Listener.self].vote(
        within: .seconds(1_000_000_000_000), absent: .abstains
      ) { await $0.answer(1) }
    }
    #expect(vote.value == true)
    let sleep = executor.start { [clock] in try await clock.sleep(for: .seconds(Int64.max)) }
    #expect(clock.sleepers == 1)
    sleep.cancel()
    executor.run()
    #expect(sleep.isOver)
  }
}

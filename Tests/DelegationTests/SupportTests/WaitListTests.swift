import Testing

@testable import Delegation

@Suite("WaitList: those who wait for one count to fall", .inTurn)
struct WaitListTests {
  @Test("its limit is the highest count at which somebody may go on")
  func limit() {
    var list = WaitList()
    #expect(list.isEmpty)
    #expect(list.limit == -1)
    let (strict, low, high) = (Waiter(), Waiter { 1 }, Waiter { 3 })
    list.add(strict)
    #expect(list.limit == 0)
    list.add(high)
    list.add(low)
    #expect(list.limit == 3)
    list.remove(high)
    // Not looked for: of very many each may be removed.
    #expect(list.takeFulfilled(at: 2).isEmpty)
    #expect(list.limit == 1)
    list.remove(low)
    list.remove(high)
    #expect(list.takeFulfilled(at: 1).isEmpty)
    #expect(list.limit == 0)
    list.remove(strict)
    #expect(list.limit == -1)
    #expect(list.isEmpty)
  }

  @Test("whatever is added, removed and taken out, those go on who excuse enough")
  func agreesWithArray() {
    for seed in 1...200 {
      var dice = Dice(seed: UInt64(seed))
      var list = WaitList()
      var waiting: [(waiter: Waiter, excused: Count)] = []
      for _ in 0..<60 {
        switch dice.roll(4) {
        case 0, 1:
          let excused = Count()
          excused.add(dice.roll(6))
          let waiter = Waiter { excused.value }
          waiting.append((waiter, excused))
          list.add(waiter)
        case 2 where !waiting.isEmpty:
          list.remove(waiting.remove(at: dice.roll(waiting.count)).waiter)
        default:
          // One excuses fewer from now on.
          if let one = waiting.randomElement(using: &dice) {
            one.excused.add(-dice.roll(one.excused.value + 1))
          }
          let count = dice.roll(6)
          let fulfilled = list.takeFulfilled(at: count)
          let expected = waiting.filter { count <= $0.excused.value }.map(\.waiter)
          #expect(
            Set(fulfilled.map(ObjectIdentifier.init)) == Set(expected.map(ObjectIdentifier.init)),
            "seed \(seed)")
          waiting.removeAll { count <= $0.excused.value }
          #expect(list.limit < count)
        }
        #expect(list.isEmpty == waiting.isEmpty)
        #expect(list.limit >= waiting.map(\.excused.value).max() ?? -1)
      }
    }
  }

  @Test("what comes to be excused later counts as soon as it is counted anew")
  func reconsidered() {
    final class Shared: Sendable {
      let count = AwaitedCount(1)
      let excused = Lock(0)
    }
    let shared = Shared()
    let waiter = Waiter { [shared] in shared.excused.withLock { $0 } }
    shared.count.update { $0.add(waiter) }
    shared.excused.withLock { $0 = 1 }
    #expect(waiter.outcome == nil)
    shared.count.update { $0.reconsider() }
    #expect(waiter.outcome == true)
    #expect(shared.count.isAwaited == false)
  }

  @Test("one that has come to excuse less lowers the limit, and is not asked above it")
  func lowered() {
    var list = WaitList()
    let (excused, asked) = (Count(), Recorder<Void>())
    excused.add(3)
    let waiter = Waiter {
      asked.record(())
      return excused.value
    }
    list.add(waiter)
    excused.add(-2)
    #expect(list.takeFulfilled(at: 3).isEmpty)
    #expect(list.limit == 1)
    #expect(list.takeFulfilled(at: 2).isEmpty)
    #expect(asked.history.count == 2)
    #expect(list.takeFulfilled(at: 1).first === waiter)
    #expect(list.isEmpty)
  }
}

@Suite("Waiter: one task that waits for a count of handlers to fall", .inTurn)
struct WaiterTests {
  @Test(
    "the first outcome counts, be it there before or after the task waits",
    arguments: [false, true])
  func firstOutcome(isEarly: Bool) async {
    for outcome in [true, false] {
      let waiter = Waiter()
      let begun = Gate()
      let waiting = Task {
        begun.arrive()
        return await waiter.wait()
      }
      if !isEarly { await begun.arrivals() }
      waiter.resume(outcome)
      waiter.resume(!outcome)
      #expect(await waiting.value == outcome)
    }
  }

  @Test("it is resumed once, however many threads bring an outcome")
  func race() async {
    for round in races(500) {
      let waiter = Waiter()
      let waiting = Task { await waiter.wait() }
      let meeting = Meeting(of: 2)
      Threads.run(2) { thread in
        meeting.await(0)
        waiter.resume(thread == round % 2)
      }
      #expect(await waiting.value == waiter.outcome)
    }
  }
}

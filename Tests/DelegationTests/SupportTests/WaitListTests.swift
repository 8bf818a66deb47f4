import Testing

@testable import Delegation

@Suite("WaitList: those who wait for one count to fall", .inTurn)
struct WaitListTests {
  private func waiter(_ most: Int) -> Waiter {
    Waiter(excusing: Waiter.Excuse(most: most) { most })
  }

  private func same(_ some: [Waiter], _ others: [Waiter]) -> Bool {
    Set(some.map(ObjectIdentifier.init)) == Set(others.map(ObjectIdentifier.init))
      && some.count == others.count
  }

  @Test("its limit is the highest count at which somebody may go on")
  func limit() {
    var list = WaitList()
    #expect(list.isEmpty)
    #expect(list.limit == -1)
    let (strict, low, high) = (Waiter(), waiter(1), waiter(3))
    list.add(strict)
    #expect(list.limit == 0)
    list.add(high)
    list.add(low)
    #expect(list.limit == 3)
    list.remove(high)
    #expect(list.limit == 1)
    list.remove(low)
    #expect(list.limit == 0)
    list.remove(strict)
    #expect(list.limit == -1)
    #expect(list.isEmpty)
  }

  @Test("those who may go on are the strict ones at zero, and those that excuse enough")
  func candidates() {
    var list = WaitList()
    let strict = [Waiter(), Waiter()]
    let excusing = [waiter(1), waiter(3), waiter(1)]
    for waiter in strict + excusing { list.add(waiter) }
    #expect(list.candidates(at: 4).isEmpty)
    #expect(same(list.candidates(at: 3), [excusing[1]]))
    #expect(same(list.candidates(at: 2), [excusing[1]]))
    #expect(same(list.candidates(at: 1), excusing))
    #expect(same(list.candidates(at: 0), strict + excusing))
    for waiter in [strict[0], excusing[1], Waiter(), waiter(1)] { list.remove(waiter) }
    #expect(same(list.candidates(at: 0), [strict[1], excusing[0], excusing[2]]))
  }

  @Test("whatever is added, removed and settled, candidates are those whose limits allow it")
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
          let waiter = Waiter(excusing: .init(most: excused.value) { excused.value })
          waiting.append((waiter, excused))
          list.add(waiter)
        case 2 where !waiting.isEmpty:
          list.remove(waiting.remove(at: dice.roll(waiting.count)).waiter)
        default:
          // One excuses fewer from now on.
          if let one = waiting.randomElement(using: &dice) {
            one.excused.add(-dice.roll(one.excused.value + 1))
          }
          let count = 1 + dice.roll(5)
          let candidates = list.candidates(at: count)
          for candidate in candidates { _ = candidate.tryFulfil { count } }
          list.settle(candidates)
          waiting.removeAll { $0.waiter.outcome != nil }
        }
        for count in 1...6 {
          let expected = waiting.map(\.waiter).filter { $0.limit >= count }
          #expect(same(list.candidates(at: count), expected), "seed \(seed)")
        }
        #expect(list.limit == waiting.map(\.waiter.limit).max() ?? -1)
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
    let waiter = Waiter(
      excusing: Waiter.Excuse(most: 0) { [shared] in shared.excused.withLock { $0 } })
    shared.count.add(waiter)
    shared.excused.withLock { $0 = 1 }
    #expect(waiter.outcome == nil)
    shared.count.reconsider()
    #expect(waiter.outcome == true)
    shared.count.remove(waiter)
  }

  @Test("a count of what is excused that is out of date when it ends is not kept")
  func outdated() {
    final class Shared: Sendable {
      let waiter = Lock<Waiter?>(nil)
    }
    let shared = Shared()
    let waiter = Waiter(
      excusing: Waiter.Excuse(most: 5) { [shared] in
        shared.waiter.withLock { $0.take() }?.reconsider()
        return 0
      })
    shared.waiter.withLock { $0 = waiter }
    #expect(!waiter.tryFulfil { 3 })
    #expect(waiter.limit == .max)
    #expect(!waiter.tryFulfil { 3 })
    #expect(waiter.limit == 0)
  }

  @Test("one that has come to excuse less lowers the limit when it is settled")
  func lowered() {
    var list = WaitList()
    let excused = Lock(3)
    let waiter = Waiter(excusing: Waiter.Excuse(most: 3) { excused.withLock { $0 } })
    list.add(waiter)
    excused.withLock { $0 = 1 }
    #expect(!waiter.tryFulfil { 3 })
    list.settle([waiter])
    #expect(list.limit == 1)
    #expect(list.candidates(at: 2).isEmpty)
    #expect(waiter.tryFulfil { 1 })
  }
}

@Suite("Waiter: one task that waits for a count of handlers to fall", .inTurn)
struct WaiterTests {
  @Test("it goes on at zero, or at as many as it excuses, and what it excuses is not asked before")
  func fulfilling() {
    let asked = Recorder<Void>()
    let excuse = Waiter.Excuse(most: 2) {
      asked.record(())
      return 1
    }
    let waiter = Waiter(excusing: excuse)
    #expect(!waiter.isStrict)
    #expect(!waiter.tryFulfil { 3 })
    #expect(asked.history.count == 0)
    #expect(!waiter.tryFulfil { 2 })
    #expect(asked.history.count == 1)
    #expect(waiter.limit == 1)
    #expect(waiter.outcome == nil)
    #expect(waiter.tryFulfil { 1 })
    #expect(waiter.outcome == true)

    let strict = Waiter()
    #expect(strict.isStrict)
    #expect(strict.limit == 0)
    #expect(!strict.tryFulfil { 1 })
    #expect(strict.tryFulfil { 0 })
  }

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

import Testing

@testable import Delegation

@Suite("WaitList: those who wait for one count to fall")
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
    list.remove([high])
    #expect(list.limit == 1)
    list.remove([low])
    #expect(list.limit == 0)
    list.remove([strict])
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
    list.remove([strict[0], excusing[1], Waiter(), waiter(1)])
    #expect(same(list.candidates(at: 0), [strict[1], excusing[0], excusing[2]]))
  }

  @Test("one that has come to excuse less lowers the limit when somebody is removed")
  func lowered() {
    var list = WaitList()
    let excused = Lock(3)
    let waiter = Waiter(excusing: Waiter.Excuse(most: 3) { excused.withLock { $0 } })
    list.add(waiter)
    excused.withLock { $0 = 1 }
    #expect(!waiter.tryFulfil { 3 })
    list.remove([])
    #expect(list.limit == 1)
    #expect(list.candidates(at: 2).isEmpty)
    #expect(waiter.tryFulfil { 1 })
  }
}

@Suite("Waiter: one task that waits for a count of handlers to fall", .timeLimit(.minutes(3)))
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
    for round in rounds(500) {
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

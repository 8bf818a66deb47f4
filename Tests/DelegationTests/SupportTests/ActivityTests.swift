import Testing

@testable import Delegation

@Suite("Activity: how many workers there are", .inTurn)
struct ActivityTests {
  @Test("whoever waits for rest goes on when the last worker has ended, whoever that is")
  func rest() {
    let activity = Activity()
    let waiter = Waiter()
    for workers in 1...3 {
      activity.begin()
      #expect(activity.workers.value == workers)
    }
    activity.workers.update { $0.add(waiter) }
    for workers in [2, 1] {
      activity.end()
      #expect(activity.workers.value == workers)
      #expect(waiter.outcome == nil)
    }
    activity.end()
    #expect(waiter.outcome == true)
  }
}

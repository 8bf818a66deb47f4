import Testing

@testable import DelegationTesting

@Suite("JobQueue")
struct JobQueueTests {
  @Test("it is first in, first out")
  func order() {
    let queue = JobQueue<Int>()
    for number in 0..<5 { queue.append(number) }
    #expect(queue.count == 5)
    #expect(queue.popFirst() == 0)
    #expect(queue.takeAll() == [1, 2, 3, 4])
    #expect(queue.count == 0)
    #expect(queue.popFirst() == nil)
  }

  @Test("waiting ends when the patience does, or at once if there is a job or no patience")
  func patience() {
    let queue = JobQueue<Int>()
    #expect(!queue.wait(for: .zero))
    #expect(!queue.wait(for: .seconds(-1)))
    #expect(!queue.wait(for: .microseconds(100)))
    queue.append(1)
    #expect(queue.wait(for: .zero))
    #expect(queue.wait(for: .seconds(Int64.max)))
  }

  @Test("no job is missed, whether it comes before, while or after a thread waits")
  func race() {
    let queue = JobQueue<Int>()
    onAnotherThread { for number in 0..<2000 { queue.append(number) } }
    var taken: [Int] = []
    while taken.count < 2000 {
      // Short patience at times, so that giving up and being signalled meet.
      let patience = taken.count.isMultiple(of: 3) ? Duration.microseconds(1) : .seconds(60)
      if queue.wait(for: patience) { taken += queue.takeAll() }
    }
    #expect(taken == Array(0..<2000))
    // No signal is left over.
    #expect(!queue.wait(for: .microseconds(1)))
  }
}

import Testing

@testable import DelegationTesting

/// A history, and the queue of jobs: what threads hand to each other.
@Suite("Recorder and JobQueue", .inTurn)
struct RecorderTests {
  private let executor = ManualExecutor()

  @Test("what several threads record is all there, that of each in its order, until it is cleared")
  func threads() async {
    let recorder = Recorder<(thread: Int, number: Int)>()
    for thread in 0..<4 {
      onAnotherThread {
        for number in 0..<1000 { recorder.record((thread, number)) }
      }
    }
    let events = await recorder.events(atLeast: 4000)
    #expect(events.count == 4000)
    for thread in 0..<4 {
      #expect(events.filter { $0.thread == thread }.map(\.number) == Array(0..<1000))
    }
    #expect(recorder.count == 4000 && recorder.clear().count == 4000)
    recorder.record((0, 7))
    #expect(recorder.events.map(\.number) == [7])
  }

  @Test("a task that waits for events goes on when there are so many, with what there was then")
  func waiting() {
    let recorder = Recorder<Int>()
    let calls = (0...3).map { count in
      executor.start { await recorder.events(atLeast: count) }
    }
    #expect(calls.map(\.value) == [[], nil, nil, nil])
    recorder.record(1)
    executor.run()
    #expect(calls.map(\.value) == [[], [1], nil, nil])
    recorder.record(2)
    recorder.record(3)
    recorder.clear()
    recorder.record(4)
    executor.run()
    #expect(calls.map(\.value) == [[], [1], [1, 2], [1, 2, 3]])
  }

  @Test("a task that is cancelled waits no longer, wherever the cancellation strikes")
  func cancellation() async {
    let recorder = Recorder<Int>()
    let waiting = executor.start { await recorder.events(atLeast: 1) }
    waiting.cancel()
    executor.run()
    #expect(waiting.value == [])
    for _ in 0..<500 {
      let task = Task { await recorder.events(atLeast: 1) }
      task.cancel()
      #expect(await task.value == [])
    }
  }

  @Test("no job is missed, whether it comes before, while or after a thread waits")
  func race() {
    let queue = JobQueue<Int>()
    onAnotherThread { for number in 0..<2000 { queue.append(number) } }
    var taken: [Int] = []
    while taken.count < 2000 {
      // Short patience at times, so that giving up and being signalled meet.
      let patience = taken.count.isMultiple(of: 3) ? Duration.microseconds(1) : .seconds(Int64.max)
      if queue.wait(for: patience) { taken += queue.takeAll() }
    }
    #expect(taken == Array(0..<2000))
    // No signal is left over.
    #expect(!queue.wait(for: .microseconds(1)) && !queue.wait(for: .seconds(-1)))
  }
}

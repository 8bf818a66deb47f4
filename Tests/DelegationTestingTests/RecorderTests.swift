import DelegationTesting
import Testing

@Suite("Recorder")
struct RecorderTests {
  @Test("a history is what was recorded, in order, until it is cleared")
  func history() {
    let recorder = Recorder<Int>()
    #expect(recorder.events == [])
    for number in 0..<10 { recorder.record(number) }
    #expect(recorder.events == Array(0..<10))
    #expect(recorder.count == 10)
    #expect(recorder.clear() == Array(0..<10))
    #expect(recorder.events == [])
    recorder.record(1)
    #expect(recorder.events == [1])
  }

  @Test("what several threads record is all there, that of each in its order")
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
  }

  @Test("those who wait for events go on when there are so many, and not before")
  func waiting() {
    let executor = ManualExecutor()
    let recorder = Recorder<Int>()
    let none = executor.start { await recorder.events(atLeast: 0) }
    let one = executor.start { await recorder.events(atLeast: 1) }
    let two = executor.start { await recorder.events(atLeast: 2) }
    #expect(none.value == [])
    recorder.record(1)
    executor.run()
    #expect(one.value == [1])
    #expect(two.value == nil)
    recorder.record(2)
    executor.run()
    #expect(two.value == [1, 2])
  }

  @Test("those who waited get what there was, even if the history is cleared before they go on")
  func cleared() {
    let executor = ManualExecutor()
    let recorder = Recorder<Int>()
    let three = executor.start { await recorder.events(atLeast: 3) }
    for number in 0..<3 { recorder.record(number) }
    recorder.clear()
    recorder.record(3)
    executor.run()
    #expect(three.value == [0, 1, 2])
  }

  @Test("who is cancelled waits no longer, wherever the cancellation strikes")
  func cancellation() async {
    let executor = ManualExecutor()
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
}

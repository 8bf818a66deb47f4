import Synchronization
import Testing

@testable import Delegation

@Suite("WaitGraph: handlers that return, and waits that are over", .inTurn)
struct WaitGraphReturnTests {
  @Test("a wait that is over excuses nobody, whether others have begun since or not")
  func over() {
    let scene = HandlerScene([.init(node: 0), .init(node: 0)], subscribers: 1)
    let goal = WaitGoal.rest(of: scene.inbox.activity)
    var graph = WaitGraph()
    let numbers = scene.contexts.compactMap { graph.add(goal, in: $0) }
    #expect(numbers.count == 2)
    for number in numbers {
      let wait = graph.remove(number)
      #expect(wait?.number == number)
      let excused = graph.countExcused(by: number)
      #expect(excused == 0)
      let isThere = graph.remove(number) != nil
      #expect(!isThere)
    }
    #expect(graph.waits.isEmpty)
  }

  @Test("one that returns while its wait is added is not excused, however the two meet")
  func added() {
    let inbox = Inbox()
    defer { inbox.clear() }
    let (subscriber, activity) = (Nobody(), inbox.activity)
    let node = Structures.subscribe(subscriber, in: inbox)
    let number = rounds(5_000)
    let handlers = number.map { _ in
      let worker = Worker(activity: activity, caller: nil)
      return HandlerContext(worker: worker, call: worker.begin(), node: node)
    }
    let graph = Lock(WaitGraph())
    let excused = Recorder<Int>()
    let meeting = Meeting(of: 2)
    Threads.run(2) { thread in
      for round in number {
        let handler = handlers[round]
        var number: Int?
        guard meeting.await(2 * round) else { return }
        if thread == 0 {
          number = graph.withLock { $0.add(.rest(of: activity), in: handler) }
        } else {
          // It returns a little later each time.
          for _ in 0..<(round % 50) { _ = handler.isRunning }
          handler.worker.end()
        }
        guard meeting.await(2 * round + 1) else { return }
        if let number {
          excused.record(graph.withLock { $0.countExcused(by: number) })
          _ = graph.withLock { $0.remove(number) }
        }
      }
    }
    #expect(!excused.history.contains { $0 > 0 })
  }
}

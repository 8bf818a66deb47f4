import Synchronization
import Testing

@testable import Delegation

@Suite("WaitGraph: handlers that return, and waits that are over", .inTurn)
struct WaitGraphReturnTests {
  @Test("of a wait that is over nothing is left, whether others have begun since or not")
  func over() {
    let scenes = (0..<2).map { _ in HandlerScene([.init(node: 0), .init(node: 0)], subscribers: 1) }
    var graph = WaitGraph()
    var waits: [WaitGraph.Wait] = []
    for (scene, other) in [(scenes[0], scenes[1]), (scenes[1], scenes[0])] {
      let goal = WaitGoal.rest(of: other.board.activity)
      waits += scene.contexts.compactMap { graph.add(goal, in: $0) }
    }
    // The later ones excuse the handlers of the earlier ones, in a circle, as long as these wait.
    var excused: [Int] = []
    while let wait = waits.popLast() {
      excused.append(graph.countExcused(by: wait))
      graph.remove(wait)
      #expect(graph.all.map(\.number) == waits.map(\.number))
    }
    #expect(excused == [2, 2, 0, 0])
    #expect(graph.waits.isEmpty)
  }

  @Test("one that returns while its wait is added is not excused, however the two meet")
  func added() {
    let board = Switchboard()
    defer { board.clear() }
    let (subscriber, activity) = (Nobody(), board.activity)
    let node = Structures.subscribe(subscriber, in: board)
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
        var wait: WaitGraph.Wait?
        guard meeting.await(2 * round) else { return }
        if thread == 0 {
          wait = graph.withLock { $0.add(.rest(of: activity), in: handler) }
        } else {
          // It returns a little later each time.
          for _ in 0..<(round % 50) { _ = handler.isRunning }
          handler.worker.end()
        }
        guard meeting.await(2 * round + 1) else { return }
        if let wait {
          excused.record(graph.withLock { $0.countExcused(by: wait) })
          graph.withLock { $0.remove(wait) }
        }
      }
    }
    #expect(!excused.history.contains { $0 > 0 })
  }
}

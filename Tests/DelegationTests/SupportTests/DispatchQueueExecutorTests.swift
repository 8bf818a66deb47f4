import Dispatch
import Testing

@testable import Delegation

@Suite("DispatchQueueExecutor", .inTurn)
struct DispatchQueueExecutorTests {
  /// An actor that lives on a dispatch queue.
  private actor Tenant {
    private let executor: DispatchQueueExecutor
    private(set) var visits: [String] = []

    init(on executor: DispatchQueueExecutor) {
      self.executor = executor
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func visit(_ name: String) -> String {
      preconditionIsolated()
      dispatchPrecondition(condition: .onQueue(executor.queue))
      visits.append(name)
      return MarkedQueue.current
    }

    func visitTwice(_ name: String) async -> [String] {
      let first = visit(name)
      await Task.yield()
      return [first, visit(name)]
    }
  }

  @Test("as a task's preference, it runs the task on its queue, before and after suspending")
  func taskExecutor() async {
    let executor = DispatchQueueExecutor(MarkedQueue.make("home"))
    let queues = await Task(executorPreference: executor) {
      let before = MarkedQueue.current
      await Task.yield()
      let after = MarkedQueue.current
      async let child = MarkedQueue.current
      return [before, after, await child]
    }.value
    #expect(queues == ["home", "home", "home"])
    #expect(MarkedQueue.current == "elsewhere")
  }

  @Test("as an actor's executor, it runs the actor on its queue")
  func actorExecutor() async {
    let resident = Tenant(on: DispatchQueueExecutor(MarkedQueue.make("home")))
    #expect(await resident.visitTwice("a") == ["home", "home"])
    #expect(await resident.visits == ["a", "a"])
    #expect(MarkedQueue.current == "elsewhere")
  }

  @Test("code that dispatch runs on the queue is isolated to the actor")
  func assumeIsolated() async {
    let executor = DispatchQueueExecutor(MarkedQueue.make("home"))
    let resident = Tenant(on: executor)
    let place = await withCheckedContinuation { continuation in
      executor.queue.async {
        resident.preconditionIsolated()
        continuation.resume(returning: resident.assumeIsolated { $0.visit("from the queue") })
      }
    }
    #expect(place == "home")
    #expect(await resident.visits == ["from the queue"])
  }

  @Test("code that runs anywhere else is not, and stops the program")
  func notIsolated() async {
    await #expect(processExitsWith: .failure) {
      Tenant(on: DispatchQueueExecutor(DispatchQueue(label: "home"))).preconditionIsolated()
    }
  }

  @Test("a task that prefers the queue is isolated to the actor only while it is in it")
  func both() async {
    let executor = DispatchQueueExecutor(MarkedQueue.make("home"))
    let resident = Tenant(on: executor)
    let places = await Task(executorPreference: executor) {
      let inside = await resident.visitTwice("b")
      return inside + [MarkedQueue.current]
    }.value
    #expect(places == ["home", "home", "home"])
  }

  @Test("jobs of a serial queue never overlap, and none is lost")
  func serial() async {
    let executor = DispatchQueueExecutor(DispatchQueue(label: "home"))
    let resident = Tenant(on: executor)
    await withTaskGroup { group in
      for number in 0..<200 {
        group.addTask(executorPreference: number % 2 == 0 ? executor : nil) {
          _ = await resident.visitTwice("\(number)")
        }
      }
    }
    let visits = await resident.visits
    #expect(visits.sorted() == (0..<200).flatMap { ["\($0)", "\($0)"] }.sorted())
  }

  @Test("the queue is the one that was given")
  func queue() {
    let queue = DispatchQueue(label: "home")
    #expect(DispatchQueueExecutor(queue).queue === queue)
  }
}

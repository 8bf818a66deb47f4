import Delegation
import Testing

@MainActor
protocol CounterSubscriber: AnyObject, Sendable {
  func counterDidChange(from former: Int, to present: Int)
}

// sample: A store that dispatches
/// When `dispatch` returns, everybody has had the new state; a subscriber may dispatch in its turn.
@MainActor
final class CounterStore {
  private let subscribers = Delegates<any CounterSubscriber>()
  var registry: DelegateRegistry<any CounterSubscriber> { subscribers.registry }
  private(set) var state = 0

  func dispatch(_ action: (Int) -> Int) {
    let former = state
    state = action(state)
    subscribers.forEach { $0.counterDidChange(from: former, to: state) }
  }
}
// end of sample

@MainActor
protocol StepSubscriber: AnyObject, Sendable {
  func didTake(_ step: Int)
}

// sample: Nested calls that queue
@MainActor
final class Dispatcher {
  let subscribers = Delegates<any StepSubscriber>()
  private var waiting: [Int] = []

  func dispatch(_ step: Int) {
    waiting.append(step)
    guard waiting.count == 1 else { return }  // a handler calls: the outer loop goes on
    while let step = waiting.first {
      subscribers.forEach { $0.didTake(step) }
      waiting.removeFirst()
    }
  }
}
// end of sample

protocol LifecycleHandler: AnyObject, Sendable {
  func start() async throws
  func shutDown() async
}

// sample: A life cycle
/// Starts its parts one after another, up to the first that fails; ends all in reverse, those that never started too.
actor Application {
  nonisolated let parts = Delegates<any LifecycleHandler>()
  private var isStopping = false
  private var starting: Task<Void, any Error>?

  nonisolated func add(_ part: any LifecycleHandler) {
    parts.registry.subscribe(part, hold: .strongly)
  }
  func start() async throws {
    let task = Task {
      try await parts.forEach { part in
        if isStopping { throw CancellationError() }
        try await part.start()
      }
    }
    starting = task
    try await task.value
  }
  /// Lets the part that is starting finish, and starts no further one.
  func shutDown() async {
    isStopping = true
    _ = await starting?.result
    await parts.forEach(reversed: true) { await $0.shutDown() }
  }
}
// end of sample

extension Application {
  fileprivate var hasBegunToStop: Bool { isStopping }
}

@Suite("Samples of calls that are made now", .inTurn)
struct CallingNowSamples {
  @MainActor
  private final class Label: CounterSubscriber {
    let name: String
    let log: Recorder<String>
    private let react: (Int) -> Void

    init(_ name: String, in log: Recorder<String>, _ react: @escaping (Int) -> Void = { _ in }) {
      self.name = name
      self.log = log
      self.react = react
    }

    func counterDidChange(from former: Int, to present: Int) {
      log.record("\(name) \(former)→\(present)")
      react(present)
    }
  }

  @Test("a store has told everybody when dispatch returns, also of what a subscriber dispatches")
  @MainActor
  func store() {
    let (store, log) = (CounterStore(), Recorder<String>())
    let last = Label("c", in: log)
    let first = Label("a", in: log) { if $0 == 1 { store.dispatch { $0 + 10 } } }
    let second = Label("b", in: log) { if $0 == 12 { store.registry.unsubscribe(last) } }
    for label in [first, second, last] { store.registry.subscribe(label) }
    store.dispatch { $0 + 1 }
    // As in ReSwift: the inner change reaches all first, and then the outer call goes on, with the present state.
    #expect(log.clear() == ["a 0→1", "a 1→11", "b 1→11", "c 1→11", "b 0→11", "c 0→11"])
    store.dispatch { $0 + 1 }
    #expect(log.clear() == ["a 11→12", "b 11→12"] && store.state == 12)
  }

  @MainActor
  private final class Stepper: StepSubscriber {
    let name: String
    let log: Recorder<String>
    let dispatcher: Dispatcher

    init(_ name: String, in log: Recorder<String>, of dispatcher: Dispatcher) {
      (self.name, self.log, self.dispatcher) = (name, log, dispatcher)
    }

    func didTake(_ step: Int) {
      log.record("\(name)\(step)")
      if name == "a", step < 3 { dispatcher.dispatch(step + 1) }
    }
  }

  @Test("or each subscriber has all steps in their order")
  @MainActor
  func queueing() {
    let (dispatcher, log) = (Dispatcher(), Recorder<String>())
    let steppers = ["a", "b"].map { Stepper($0, in: log, of: dispatcher) }
    for stepper in steppers { dispatcher.subscribers.registry.subscribe(stepper) }
    dispatcher.dispatch(1)
    #expect(log.history == ["a1", "b1", "a2", "b2", "a3", "b3"])
  }

  private final class Part: LifecycleHandler {
    let name: String
    let log: Recorder<String>
    let gate: Gate?

    init(_ name: String, in log: Recorder<String>, until gate: Gate? = nil) {
      self.name = name
      self.log = log
      self.gate = gate
    }

    func start() async throws {
      log.record("\(name) starts")
      await gate?.pass()
      if name == "faulty" { throw Refusal(reason: name) }
      log.record("\(name) is up")
    }

    func shutDown() async {
      log.record("\(name) ends")
      await Task.yield()
      log.record("\(name) is down")
    }
  }

  @Test("a life cycle begins in turn, up to the first that fails, and ends in reverse")
  func lifeCycle() async throws {
    let (application, log) = (Application(), Recorder<String>())
    for name in ["database", "server"] { application.add(Part(name, in: log)) }
    try await application.start()
    await application.shutDown()
    #expect(
      log.clear() == [
        "database starts", "database is up", "server starts", "server is up",
        "server ends", "server is down", "database ends", "database is down",
      ])
    let second = Application()
    for name in ["faulty", "never"] { second.add(Part(name, in: log)) }
    await #expect(throws: Refusal(reason: "faulty")) { try await second.start() }
    #expect(log.history.last == "faulty starts" && !log.history.contains("never starts"))
  }

  @Test("to shut down during the start waits for the part that starts, and starts no further one")
  func earlyEnd() async throws {
    let (application, log, gate) = (Application(), Recorder<String>(), Gate())
    for name in ["slow", "never"] {
      application.add(Part(name, in: log, until: name == "slow" ? gate : nil))
    }
    let start = Task { try await application.start() }
    await gate.arrivals()
    let end = Task { await application.shutDown() }
    while await !application.hasBegunToStop { await Task.yield() }
    gate.open()
    await end.value
    await #expect(throws: CancellationError.self) { try await start.value }
    #expect(
      log.history == [
        "slow starts", "slow is up", "never ends", "never is down", "slow ends", "slow is down",
      ])
  }
}

import Delegation
import Dispatch
import Testing

// MARK: A store

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

// sample: A store whose changes queue
/// As before, but what a subscriber dispatches waits until everybody has had the present change.
@MainActor
final class QueueingStore {
  private let subscribers = Delegates<any CounterSubscriber>()
  var registry: DelegateRegistry<any CounterSubscriber> { subscribers.registry }
  private(set) var state = 0
  private var waiting: [(Int) -> Int] = []

  func dispatch(_ action: @escaping (Int) -> Int) {
    waiting.append(action)
    guard waiting.count == 1 else { return }
    while let next = waiting.first {
      let former = state
      state = next(state)
      subscribers.forEach { $0.counterDidChange(from: former, to: state) }
      waiting.removeFirst()
    }
  }
}
// end of sample

// MARK: A transaction

struct Transfer {
  var amounts: [Int]
}

protocol TransferObserver: AnyObject, Sendable {
  func willCommit(_ transfer: inout Transfer) throws(Veto)
  func didCommit(_ transfer: Transfer)
  func didRollBack()
}

struct Veto: Error {
  let reason: String
}

// sample: A transaction that an observer vetoes
/// The first observer that throws keeps the transfer from being committed; all hear how it has ended.
func commit(
  _ transfer: inout Transfer, telling observers: Delegates<any TransferObserver>
) throws(Veto) {
  do throws(Veto) {
    try observers.forEach { observer throws(Veto) in try observer.willCommit(&transfer) }
  } catch {
    observers.forEach { $0.didRollBack() }
    throw error
  }
  observers.forEach { $0.didCommit(transfer) }
}
// end of sample

// MARK: A life cycle

protocol LifecycleHandler: AnyObject, Sendable {
  func start() async throws
  func shutDown() async
}

// sample: A life cycle
/// Starts its parts one after another, up to the first that fails; ends all in reverse, those that never started too.
actor Application {
  private nonisolated let parts = Delegates<any LifecycleHandler>()
  private var starting: Task<Void, any Error>?

  nonisolated func add(_ part: any LifecycleHandler) {
    parts.registry.subscribe(part, hold: .strongly)
  }

  func start() async throws {
    let task = Task { [parts] in
      try await parts.forEach { part in
        try Task.checkCancellation()
        try await part.start()
      }
    }
    starting = task
    try await task.value
  }

  /// If a start is under way, no further part is started, and none is ended while it starts.
  func shutDown() async {
    starting?.cancel()
    _ = await starting?.result
    await parts.forEach(reversed: true) { await $0.shutDown() }
  }
}
// end of sample

// MARK: A connection

protocol LoopListener: AnyObject, Sendable {
  func connection(_ connection: isolated LoopConnection, didReceive message: Int)
  func connectionDidClose(_ connection: isolated LoopConnection)
}

// sample: Listeners on a connection's event loop
/// Runs on an event loop, and calls its listeners there: what one of them does has happened before the next message.
actor LoopConnection {
  private nonisolated let loop: DispatchQueueExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  nonisolated let listeners = Delegates<any LoopListener>()
  private var isOpen = true

  init(on loop: DispatchQueueExecutor) { self.loop = loop }

  func receive(_ messages: [Int]) {
    for message in messages where isOpen {
      listeners.forEach { $0.connection(self, didReceive: message) }
      if !isOpen { listeners.forEach { $0.connectionDidClose(self) } }
    }
  }

  func disconnect() { isOpen = false }
}
// end of sample

// MARK: Named closures

protocol MessageListener: AnyObject, Sendable {
  func receive(_ message: String)
}

final class MessageClosure: MessageListener {
  private let body: @Sendable (String) -> Void

  init(_ body: @escaping @Sendable (String) -> Void) { self.body = body }
  func receive(_ message: String) { body(message) }
}

// sample: Closures by name
/// Calls closures that have names, in the order in which they were added; they may remove each other, and themselves.
struct MessageListeners {
  private let all = Delegates<any MessageListener>()

  func add(named name: String, _ body: @escaping @Sendable (String) -> Void) {
    all.registry.subscribe(MessageClosure(body), id: name, hold: .strongly)
  }
  func remove(named name: String) { all.registry.unsubscribe(id: name) }
  func publish(_ message: String) { all.forEach { $0.receive(message) } }
}
// end of sample

@Suite("Samples of calls that are made now", .inTurn)
struct CallingNowSamples {
  // MARK: A store

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
    #expect(log.clear() == ["a 11→12", "b 11→12"])
    #expect(store.state == 12)
  }

  @Test("or each subscriber has all changes in their order")
  @MainActor
  func queueingStore() {
    let (store, log) = (QueueingStore(), Recorder<String>())
    let first = Label("a", in: log) { if $0 == 1 { store.dispatch { $0 + 10 } } }
    let second = Label("b", in: log)
    for label in [first, second] { store.registry.subscribe(label) }
    store.dispatch { $0 + 1 }
    #expect(log.history == ["a 0→1", "b 0→1", "a 1→11", "b 1→11"])
    #expect(store.state == 11)
  }

  // MARK: A transaction

  private final class Ledger: TransferObserver {
    let name: String
    let limit: Int
    let log: Recorder<String>

    init(_ name: String, limit: Int = 100, in log: Recorder<String>) {
      self.name = name
      self.limit = limit
      self.log = log
    }

    func willCommit(_ transfer: inout Transfer) throws(Veto) {
      log.record("\(name)?")
      if transfer.amounts.reduce(0, +) > limit { throw Veto(reason: name) }
      transfer.amounts.append(1)
    }
    func didCommit(_ transfer: Transfer) { log.record("\(name) \(transfer.amounts)") }
    func didRollBack() { log.record("\(name) back") }
  }

  @Test(
    "an observer vetoes a transaction by throwing: those after it are not asked, and all hear the end"
  )
  func transaction() throws {
    let (observers, log) = (Delegates<any TransferObserver>(), Recorder<String>())
    let ledgers = [
      Ledger("a", in: log), Ledger("b", limit: 20, in: log), Ledger("c", in: log),
    ]
    for ledger in ledgers { observers.registry.subscribe(ledger) }
    var small = Transfer(amounts: [5])
    try commit(&small, telling: observers)
    // Each has seen what the one before has changed.
    #expect(small.amounts == [5, 1, 1, 1])
    #expect(log.clear() == ["a?", "b?", "c?"] + ["a", "b", "c"].map { "\($0) [5, 1, 1, 1]" })
    var large = Transfer(amounts: [50])
    do throws(Veto) {
      try commit(&large, telling: observers)
      Issue.record("it was not vetoed")
    } catch {
      #expect(error.reason == "b")
    }
    #expect(log.history == ["a?", "b?", "a back", "b back", "c back"])
  }

  // MARK: A life cycle

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
      if let gate {
        // Until it is cancelled.
        await withTaskCancellationHandler {
          await gate.pass()
        } onCancel: {
          gate.open()
        }
      }
      if name == "faulty" { throw Refusal(reason: name) }
      log.record("\(name) is up")
    }

    func shutDown() async {
      log.record("\(name) ends")
      await Task.yield()
      log.record("\(name) is down")
    }
  }

  @Test(
    "a life cycle begins in turn, each part awaited, up to the first that fails, and ends in reverse"
  )
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
    for name in ["faulty", "never"] { application.add(Part(name, in: log)) }
    await #expect(throws: Refusal(reason: "faulty")) { try await application.start() }
    #expect(log.history.last == "faulty starts")
    #expect(!log.history.contains("never starts"))
  }

  @Test("to shut down during the start waits for the part that starts, and starts no further one")
  func earlyEnd() async throws {
    let (application, log, gate) = (Application(), Recorder<String>(), Gate())
    for name in ["slow", "never"] {
      application.add(Part(name, in: log, until: name == "slow" ? gate : nil))
    }
    let start = Task { try await application.start() }
    await gate.arrivals()
    await application.shutDown()
    await #expect(throws: (any Error).self) { try await start.value }
    #expect(
      log.history == [
        "slow starts", "slow is up", "never ends", "never is down", "slow ends", "slow is down",
      ])
  }

  // MARK: A connection

  private final class Reader: LoopListener {
    let name: String
    let last: Int?
    let log: Recorder<String>

    init(_ name: String, until last: Int? = nil, in log: Recorder<String>) {
      self.name = name
      self.last = last
      self.log = log
    }

    func connection(_ connection: isolated LoopConnection, didReceive message: Int) {
      connection.preconditionIsolated()
      log.record("\(name)\(message)")
      if message == last { connection.disconnect() }
    }

    func connectionDidClose(_ connection: isolated LoopConnection) { log.record("\(name) closed") }
  }

  @Test(
    "a listener that disconnects at message 49 of 100 is the end of it, and closed is heard last")
  func connection() async {
    let log = Recorder<String>()
    let connection = LoopConnection(on: DispatchQueueExecutor(DispatchQueue(label: "loop")))
    let readers = [Reader("a", until: 49, in: log), Reader("b", in: log)]
    for reader in readers { connection.listeners.registry.subscribe(reader) }
    await connection.receive(Array(1...100))
    #expect(log.history == (1...49).flatMap { ["a\($0)", "b\($0)"] } + ["a closed", "b closed"])
  }

  // MARK: Named closures

  @Test(
    "closures with names are called in order, and one that removes another or itself takes effect at once"
  )
  func named() {
    let (listeners, log) = (MessageListeners(), Recorder<String>())
    listeners.add(named: "once") {
      log.record("once \($0)")
      listeners.remove(named: "once")
    }
    listeners.add(named: "guard") {
      log.record("guard \($0)")
      if $0 == "stop" { listeners.remove(named: "late") }
    }
    listeners.add(named: "late") { log.record("late \($0)") }
    listeners.publish("go")
    listeners.publish("stop")
    #expect(log.clear() == ["once go", "guard go", "late go", "guard stop"])
    // A closure with the same name takes the place of the older one.
    listeners.add(named: "late") { log.record("late \($0)") }
    listeners.add(named: "guard") { log.record("new \($0)") }
    listeners.publish("end")
    #expect(log.history == ["new end", "late end"])
  }
}

import Delegation
import Dispatch
import Testing

/// Part of the work.
struct Chore: Sendable {
  func run() {}
}

@Suite("Samples of one protocol's half of a hub", .inTurn)
struct DelegatesSamples {
  typealias Subtask = Chore

  protocol WorkerObserver: AnyObject, Sendable {
    func worker(_ worker: Worker, didPerform subtask: Subtask)
  }

  // sample: Delegates
  actor Worker {
    private let delegates = Delegates<any WorkerObserver>()
    nonisolated var observers: DelegateRegistry<any WorkerObserver> { delegates.registry }

    func perform(_ subtask: Subtask) {
      subtask.run()
      delegates.notify { $0.worker(self, didPerform: subtask) }  // gone if nobody is there
    }
  }
  // end of sample

  private final class Audit: WorkerObserver {
    let performed = Recorder<Bool>()
    func worker(_ worker: Worker, didPerform subtask: Subtask) { performed.record(true) }
  }

  @Test("a worker gives away its registry, and keeps its calls")
  func worker() async {
    let worker = Worker()
    let audit = Audit()
    // sample: A registry
    worker.observers.subscribe(audit)
    // end of sample
    await worker.perform(Subtask())
    #expect(await audit.performed.history(of: 1) == [true])
  }

  protocol WorkerProgressObserver: AnyObject, Sendable {
    func worker(_ worker: Worker, didReach progress: Double)
  }

  private final class Display: WorkerObserver, WorkerProgressObserver {
    let reached = Recorder<Double>()
    func worker(_ worker: Worker, didPerform subtask: Subtask) { reached.record(1) }
    func worker(_ worker: Worker, didReach progress: Double) { reached.record(progress) }
  }

  @Test("optional methods reach those that have them, in the order of all the others")
  func optional() async {
    let delegates = Delegates<any WorkerObserver>()
    let (audit, display, worker) = (Audit(), Display(), Worker())
    delegates.subscribe(audit)
    delegates.subscribe(display)
    // sample: Calling an optional method
    let progress = delegates.conforming(to: WorkerProgressObserver.self)
    progress.notify { $0.worker(worker, didReach: 0.5) }
    delegates.notify { $0.worker(worker, didPerform: Subtask()) }
    // end of sample
    await delegates.hub.drain()
    #expect(display.reached.history == [0.5, 1] && audit.performed.history == [true])
  }

  protocol RoomRule: AnyObject, Sendable {}
  protocol RoomObserver: AnyObject, Sendable {}
  protocol RoomRouter: AnyObject, Sendable {}

  private final class Module: RoomRule, RoomRouter {
    func close() {}
  }

  @Test("a module's one line, and its end")
  func module() async {
    let (hub, module) = (DelegateHub(), Module())
    // sample: Subscribing to each
    hub.subscribe(module, toEachOf: RoomRule.self, RoomObserver.self, RoomRouter.self)
    // end of sample
    #expect(!hub[RoomRouter.self].isEmpty && hub[RoomObserver.self].isEmpty)
    // sample: Unsubscribing and waiting
    await hub.unsubscribeAndWait(module)
    module.close()  // nobody calls it any more
    // end of sample
    #expect(hub[RoomRule.self].isEmpty)
  }

  @MainActor
  protocol DownloadView: AnyObject, Sendable {
    var progress: Double { get set }
  }

  @MainActor
  private final class Bar: DownloadView {
    var progress = 0.0
    nonisolated init() {}
  }

  @Test("a view is told on the main actor")
  func mainActor() async {
    let hub = DelegateHub()
    let bar = Bar()
    let progress = 0.5
    hub.subscribe(bar, to: DownloadView.self)
    // sample: On the main actor
    hub[DownloadView.self].notify { @MainActor in $0.progress = progress }
    // end of sample
    await hub.drain()
    #expect(await bar.progress == 0.5)
  }

  protocol ServerDelegate: AnyObject, Sendable {
    func serverWillStop(_ server: Int) async
  }

  private final class Flusher: ServerDelegate {
    let gate = Gate()
    func serverWillStop(_ server: Int) async { await gate.pass() }
    func close() {}
  }

  @Test("those that are not done in time are named")
  func notifyAndWait() async {
    let stage = Stage()
    let (flusher, logger, server) = (Flusher(), Logger(), 1)
    stage.hub.subscribe(flusher, to: ServerDelegate.self)
    let call = stage.start { hub in
      // sample: Waiting for all, for a time
      let outcome = await hub[ServerDelegate.self].notifyAndWait(within: .seconds(5)) {
        await $0.serverWillStop(server)
      }
      if !outcome.isHandled { logger.warning("stopping all the same: \(outcome)") }
      // end of sample
    }
    stage.advance(by: .seconds(5))
    #expect(call.result != nil && logger.lines.history.first?.contains("Flusher") == true)
    stage.open(flusher.gate)
  }

  @Test("those that hang when they are removed are named")
  func ending() async {
    let stage = Stage()
    let (module, other, logger) = (Flusher(), Flusher(), Logger())
    stage.hub.subscribe(module, to: ServerDelegate.self)
    let subscription = stage.hub.subscribe(other, to: ServerDelegate.self)
    stage.hub[ServerDelegate.self].notify { await $0.serverWillStop(1) }
    stage.run()
    let calls = [
      stage.start { hub in
        // sample: Unsubscribing, for a time
        let left = await hub.unsubscribeAndWait(module, within: .seconds(5))
        if left.isEmpty { module.close() } else { logger.error("not unloaded: \(left)") }
        // end of sample
      },
      stage.start { _ in
        // sample: Cancelling, for a time
        let left = await subscription.cancelAndWait(within: .seconds(5))
        if !left.isEmpty { logger.error("still running: \(left)") }
        // end of sample
      },
    ]
    stage.advance(by: .seconds(5))
    for call in calls { #expect(call.result != nil) }
    #expect(logger.lines.history.filter { $0.contains("Flusher") }.count == 2)
    for flusher in [module, other] { stage.open(flusher.gate) }
  }

  protocol Authenticator: AnyObject, Sendable {
    func user(for token: String) async throws -> String?
  }

  private final class Directory: Authenticator {
    func user(for token: String) async throws -> String? {
      if token.isEmpty { throw Refusal() }
      return "user of \(token)"
    }
  }

  @Test("in turn, in time")
  func inTurn() async {
    let (hub, directory) = (DelegateHub(), Directory())
    hub.subscribe(directory, to: Authenticator.self)
    let token = ""
    // sample: In turn, in time
    let user = await hub[Authenticator.self].askInTurn(
      within: .milliseconds(200), absent: .abstains
    ) { try await $0.user(for: token) }
    // end of sample
    #expect(user == nil)
  }

  protocol RequestObserver: AnyObject, Sendable {
    func server(_ server: Int, didAnswer request: String)
  }

  private final class Line: RequestObserver {
    let sent = Recorder<String>()
    func server(_ server: Int, didAnswer request: String) { sent.record("observed \(request)") }
    func send(_ response: String) async throws { sent.record(response) }
  }

  @Test("a request that is being answered delays the drain")
  func delaying() async throws {
    let hub = DelegateHub()
    let (connection, server, request) = (Line(), 1, "request")
    func answer(_ request: String) async throws -> String { "response" }
    hub.subscribe(connection, to: RequestObserver.self)
    // sample: Delaying a drain
    try await hub.delayingDrain {
      let response = try await answer(request)
      hub[RequestObserver.self].notify { $0.server(server, didAnswer: request) }
      try await connection.send(response)
    }
    // end of sample
    await hub.drain()
    #expect(connection.sent.history.sorted() == ["observed request", "response"])
  }

  struct Refused: Error, Equatable {
    var reason: String
  }

  protocol Bouncer: AnyObject, Sendable {
    func admit(_ guest: String) async throws(Refused) -> Bool
  }

  private final class Strict: Bouncer {
    func admit(_ guest: String) async throws(Refused) -> Bool {
      if guest == "Mallory" { throw Refused(reason: "known") }
      return true
    }
  }

  private func show(_ reason: String) { shown.record(reason) }
  private let shown = Recorder<String>()

  @Test("the type of an error comes through, if the closure says it")
  func typedThrows() async {
    let (hub, strict) = (DelegateHub(), Strict())
    hub.subscribe(strict, to: Bouncer.self)
    let guest = "Mallory"
    // sample: Typed throws
    do {
      // False if no bouncer has answered.
      let isWelcome = try await hub[Bouncer.self].vote(by: .unanimous(ofAtLeast: 1)) {
        bouncer async throws(Refused) in try await bouncer.admit(guest)
      }
      show(isWelcome ? "welcome" : "denied")
    } catch {
      show(error.reason)  // `error` is a `Refused`
    }
    // end of sample
    #expect(shown.history == ["known"])
  }
}

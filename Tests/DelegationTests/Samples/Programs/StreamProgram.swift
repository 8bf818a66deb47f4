import Delegation
import Dispatch
import Synchronization
import Testing

/// What travels on a stream.
struct Stanza: Sendable, Equatable {
  var from: String
  var body: String
}

@Suite("A program: a stream with modules", .inTurn)
struct StreamProgram {
  // sample: A stream's protocols
  /// Lets what is received through, changes it, or swallows it.
  protocol ReceiveFilter: AnyObject, Sendable {
    func filter(_ stanza: Stanza) async throws -> Stanza?
  }

  /// Knows some of the users.
  protocol AuthProvider: AnyObject, Sendable {
    func account(of user: String) async throws -> String?
  }

  /// Is told what has happened.
  protocol StreamObserver: AnyObject, Sendable {
    func didReceive(_ stanza: Stanza) async
    func didLogIn(_ user: String) async
  }
  // end of sample

  // sample: A stream with modules
  final class Stream: Sendable {
    private let hub: DelegateHub

    init(
      clock: any Clock<Duration> = ContinuousClock(),
      report: @escaping @Sendable (DelegateHub.Incident) -> Void = { $0.writeToStandardError() }
    ) {
      let configuration = DelegateHub.Configuration(
        clock: clock,
        onIncident: { incident in
          report(incident)
          // A filter that hangs would cost each stanza the whole time.
          if incident.kind == .late, incident.call == .pass { incident.subscription.cancel() }
        })
      hub = DelegateHub(configuration)
    }

    func add(_ module: some AnyObject & Sendable) {
      hub.subscribe(module, toEachOf: ReceiveFilter.self, AuthProvider.self, StreamObserver.self)
    }

    /// A module that wants its handlers on a queue says so for each protocol.
    func add(_ module: some AnyObject & Sendable, on queue: DispatchQueue) {
      if let filter = module as? any ReceiveFilter {
        hub.subscribe(filter, to: ReceiveFilter.self, on: queue)
      }
      if let provider = module as? any AuthProvider {
        hub.subscribe(provider, to: AuthProvider.self, on: queue)
      }
      if let observer = module as? any StreamObserver {
        hub.subscribe(observer, to: StreamObserver.self, on: queue)
      }
    }

    /// When it returns, no handler of the module is running, and none will.
    func remove(_ module: some AnyObject & Sendable) async {
      await hub.unsubscribeAndWait(module)
    }

    func receive(_ stanza: Stanza) async {
      // Fails closed: a stanza that not every filter has seen is not delivered.
      let passed = await hub.pass(
        stanza, through: ReceiveFilter.self, within: .milliseconds(200), absent: .counts(as: nil)
      ) { try await $0.filter($1) }
      guard let passed else { return }
      hub.notify(StreamObserver.self) { await $0.didReceive(passed) }
    }

    /// The account of a user, by the first provider that knows it.
    func logIn(_ user: String) async -> String? {
      let account = await hub.askInTurn(
        AuthProvider.self, within: .seconds(1), absent: .abstains
      ) { try await $0.account(of: user) }
      if account != nil { hub.notify(StreamObserver.self) { await $0.didLogIn(user) } }
      return account
    }

    func settle() async { await hub.drain() }
  }
  // end of sample

  private final class Censor: ReceiveFilter {
    func filter(_ stanza: Stanza) -> Stanza? {
      let place = MarkedQueue.current == "censor" ? "" : " (not on the queue)"
      return Stanza(
        from: stanza.from, body: stanza.body.replacing("darn", with: "****") + place)
    }
  }

  private actor Blocklist: ReceiveFilter {
    private(set) var swallowed = 0

    func filter(_ stanza: Stanza) -> Stanza? {
      guard stanza.from == "mallory" else { return stanza }
      swallowed += 1
      return nil
    }
  }

  /// Does not return before its gate is open, though it be cancelled.
  private final class Hung: ReceiveFilter {
    let gate = Gate()

    func filter(_ stanza: Stanza) async -> Stanza? {
      await gate.pass()
      return stanza
    }
  }

  private final class Staff: AuthProvider {
    func account(of user: String) async -> String? { user == "alice" ? "staff/alice" : nil }
  }

  private final class Directory: AuthProvider {
    func account(of user: String) async throws -> String? { throw Refusal(reason: "no network") }
  }

  private actor Guests: AuthProvider {
    func account(of user: String) -> String? { user.hasPrefix("guest") ? "guests/\(user)" : nil }
  }

  @MainActor private final class Window: StreamObserver {
    private(set) var lines: [String] = []

    func didReceive(_ stanza: Stanza) { lines.append("\(stanza.from): \(stanza.body)") }
    func didLogIn(_ user: String) { lines.append("\(user) is here") }
  }

  /// Comes and goes, and must not be called once it is gone.
  private final class Passer: ReceiveFilter, StreamObserver {
    private let isGone = Atomic(false)
    private let calledTooLate = Atomic(false)
    var wasCalledTooLate: Bool { calledTooLate.load(ordering: .acquiring) }

    private func note() {
      if isGone.load(ordering: .acquiring) { calledTooLate.store(true, ordering: .releasing) }
    }
    func close() { isGone.store(true, ordering: .releasing) }
    func filter(_ stanza: Stanza) async -> Stanza? {
      note()
      return stanza
    }
    func didReceive(_ stanza: Stanza) async { note() }
    func didLogIn(_ user: String) async { note() }
  }

  /// Stands still, so that no deadline comes however busy the machine is.
  private let clock = ManualClock()
  private let incidents = Recorder<String>()

  private func makeStream() -> Stream {
    Stream(clock: clock, report: { [incidents] in incidents.record("\($0.kind) in \($0.call)") })
  }

  @Test(
    "stanzas are changed, swallowed and shown, by modules on a queue, an actor and the main actor")
  func receiving() async {
    let stream = makeStream()
    let (censor, blocklist, window) = (Censor(), Blocklist(), Window())
    stream.add(censor, on: MarkedQueue.make("censor"))
    stream.add(blocklist)
    stream.add(window)
    await stream.receive(Stanza(from: "bob", body: "oh darn"))
    await stream.receive(Stanza(from: "mallory", body: "buy"))
    await stream.receive(Stanza(from: "bob", body: "bye"))
    await stream.settle()
    #expect(await window.lines == ["bob: oh ****", "bob: bye"])
    #expect(await blocklist.swallowed == 1)
    withExtendedLifetime(censor) {}
  }

  @Test("the first provider that knows a user logs her in; one that throws is passed over")
  func loggingIn() async {
    let stream = makeStream()
    let modules: [any AnyObject & Sendable] = [Directory(), Staff(), Guests()]
    for module in modules { stream.add(module) }
    let window = Window()
    stream.add(window)
    #expect(await stream.logIn("alice") == "staff/alice")
    #expect(await stream.logIn("guest 7") == "guests/guest 7")
    #expect(await stream.logIn("nobody") == nil)
    await stream.settle()
    #expect(await window.lines == ["alice is here", "guest 7 is here"])
    #expect(incidents.history == Array(repeating: "failed in askInTurn", count: 3))
    withExtendedLifetime(modules) {}
  }

  @Test("modules come and go while stanzas flow, and every stanza arrives in its sender's order")
  func comingAndGoing() async {
    let stream = makeStream()
    let window = Window()
    let senders = ["alice", "bob", "carol"]
    let rounds = 100
    stream.add(window)
    await withTaskGroup { group in
      for sender in senders {
        group.addTask {
          for number in 0..<rounds { await stream.receive(Stanza(from: sender, body: "\(number)")) }
        }
      }
      group.addTask {
        for _ in 0..<rounds {
          let passer = Passer()
          stream.add(passer)
          await Task.yield()
          await stream.remove(passer)
          passer.close()
          await Task.yield()
          #expect(!passer.wasCalledTooLate)
        }
      }
      group.addTask {
        // Nobody keeps these, and nobody removes them.
        for _ in 0..<rounds { stream.add(Passer()) }
      }
    }
    await stream.settle()
    let lines = await window.lines
    #expect(lines.count == senders.count * rounds)
    for sender in senders {
      #expect(lines.filter { $0.hasPrefix(sender) } == (0..<rounds).map { "\(sender): \($0)" })
    }
  }

  @Test("a filter that hangs lets nothing past the filters behind it, and is removed")
  func hanging() async {
    let stream = makeStream()
    let (hung, blocklist, window) = (Hung(), Blocklist(), Window())
    stream.add(hung)
    stream.add(blocklist)
    stream.add(window)
    async let received: Void = stream.receive(Stanza(from: "mallory", body: "buy"))
    await hung.gate.arrivals()
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(200))
    await received
    hung.gate.open()
    await stream.settle()
    #expect(await window.lines == [])
    #expect(await blocklist.swallowed == 0)
    #expect(incidents.history == ["late in pass"])

    await stream.receive(Stanza(from: "bob", body: "hello"))
    await stream.settle()
    #expect(await window.lines == ["bob: hello"])
    #expect(hung.gate.arrived == 1)
  }

  @Test("with `.abstains` a filter that hangs lets the value past the filters behind it")
  func failingOpen() async {
    let hub = DelegateHub(.init(clock: clock, onIncident: { _ in }))
    let (hung, blocklist) = (Hung(), Blocklist())
    hub.subscribe(hung, to: ReceiveFilter.self)
    hub.subscribe(blocklist, to: ReceiveFilter.self)
    let stanza = Stanza(from: "mallory", body: "buy")
    async let passed = hub.pass(
      stanza, through: ReceiveFilter.self, within: .milliseconds(200), absent: .abstains
    ) { try await $0.filter($1) }
    await hung.gate.arrivals()
    await clock.waitForSleepers()
    clock.advance(by: .milliseconds(200))
    #expect(await passed == stanza)
    hung.gate.open()
    await hub.drain()
    #expect(await blocklist.swallowed == 0)
  }
}

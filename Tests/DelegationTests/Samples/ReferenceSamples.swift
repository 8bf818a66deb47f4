import Delegation
import Dispatch
import Testing

/// What samples log with.
struct Logger: Sendable {
  let lines = Recorder<String>()
  func error(_ line: String) { lines.record(line) }
  func warning(_ line: String) { lines.record(line) }
}

/// The samples of the documentation comments that need no protocol of their own.
@Suite("Samples of the reference", .inTurn)
struct ReferenceSamples {
  private protocol Node: AnyObject, Sendable {
    var load: Int { get async }
    var name: String { get async }
  }

  private protocol HealthCheck: AnyObject, Sendable {
    func probe() async throws -> String
  }

  private protocol StoreDelegate: AnyObject, Sendable {
    func storeDidChange()
  }

  private protocol Telemetry: AnyObject, Sendable {
    func didMeasure(_ value: Int) async
  }

  private actor Machine: Node, HealthCheck {
    let name: String
    let load: Int

    init(_ name: String, load: Int) { (self.name, self.load) = (name, load) }

    func probe() async throws -> String {
      if load > 9 { throw Refusal(reason: "overload") }
      return name
    }
  }

  // sample: Combiner
  /// Denies at the second "no"; true with nobody to ask.
  struct TwoVetoes: Combiner {
    var vetoes = 0
    mutating func receive(_ response: Bool, from position: Int) -> Bool? {
      if !response { vetoes += 1 }
      return vetoes == 2 ? false : nil
    }
    mutating func finish() -> Bool { true }
  }
  // end of sample

  @Test("a combiner of one's own denies at the second no", arguments: 0...4)
  func ownCombiner(vetoes: Int) async {
    let hub = DelegateHub()
    let machines = (0..<4).map { Machine("\($0)", load: $0) }
    for machine in machines { hub.subscribe(machine, to: Node.self) }
    let isAllowed = await hub[Node.self].vote(by: TwoVetoes()) { await $0.load >= vetoes }
    #expect(isAllowed == (vetoes < 2))
  }

  @Test("responses are added up and folded")
  func fold() async {
    let hub = DelegateHub()
    let machines = [Machine("ant", load: 1), Machine("badger", load: 2)]
    for machine in machines { hub.subscribe(machine, to: Node.self) }
    // sample: Reduction
    let longest = Reduction<String, Int>(0) { max($0, $1.count) }
    // end of sample
    #expect(await hub[Node.self].ask(combining: longest) { await $0.name } == 6)
    // sample: reduce
    let sum = await hub[Node.self].ask(combining: .reduce(0, +)) { await $0.load }
    let length = await hub[Node.self].ask(combining: .reduce(0) { @Sendable in $0 + $1.count }) {
      await $0.name
    }
    // end of sample
    #expect(sum == 3 && length == 9)
  }

  @Test("failures and what is left are logged")
  func log() async {
    let logger = Logger()
    // sample: Configuration
    let hub = DelegateHub(
      .init(onIncident: { incident in
        logger.error("\(incident)")
      }))
    // end of sample
    // sample: Incident
    let configuration = DelegateHub.Configuration(onIncident: { incident in
      logger.warning("\(incident)")
    })
    // end of sample
    let (machine, other) = (Machine("a", load: 10), DelegateHub(configuration))
    for hub in [hub, other] {
      hub.subscribe(machine, to: HealthCheck.self)
      hub[HealthCheck.self].notify { _ = try await $0.probe() }
    }
    // sample: drain
    let left = await hub.drain(within: .seconds(5))
    if !left.isEmpty { logger.warning("shutting down with work left: \(left)") }
    // end of sample
    await other.drain()
    #expect(logger.lines.history.count == 2)
    for line in logger.lines.history {
      #expect(line.hasSuffix("failed in notify: Refusal(reason: \"overload\")"))
    }
  }

  @Test("handlers run on a queue, and a mailbox keeps the latest only")
  func queueAndMailbox() async {
    final class Cache: StoreDelegate {
      let places = Recorder<String>()
      func storeDidChange() { places.record(MarkedQueue.current) }
    }
    final class Dashboard: Telemetry {
      let gate = Gate()
      let shown = Recorder<Int>()
      func didMeasure(_ value: Int) async {
        await gate.pass()
        shown.record(value)
      }
    }
    let hub = DelegateHub()
    let (cache, dashboard) = (Cache(), Dashboard())
    let cacheQueue = MarkedQueue.make("cache")
    // sample: DispatchQueueExecutor
    hub.subscribe(cache, to: StoreDelegate.self, on: DispatchQueueExecutor(cacheQueue))
    // end of sample
    // sample: MailboxPolicy
    hub.subscribe(dashboard, to: Telemetry.self, mailbox: .latest)
    // end of sample
    hub[StoreDelegate.self].notify { $0.storeDidChange() }
    hub[Telemetry.self].notify { await $0.didMeasure(0) }
    await dashboard.gate.arrivals()
    for value in 1...9 { hub[Telemetry.self].notify { await $0.didMeasure(value) } }
    dashboard.gate.open()
    await hub.drain()
    #expect(cache.places.history == ["cache"] && dashboard.shown.history == [0, 9])
  }
}

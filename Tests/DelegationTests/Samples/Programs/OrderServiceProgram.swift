import Delegation
import Testing

/// What is bought.
struct Purchase: Sendable, Equatable {
  let number: Int
  let amount: Int
}

@Suite("A program: an order service with gates and an audit", .inTurn)
struct OrderServiceProgram {
  typealias Order = Purchase

  /// Lets orders through, or says why not.
  protocol OrderGate: AnyObject, Sendable {
    func objection(to order: Order) async throws -> String?
  }

  /// Is told which orders were accepted.
  protocol OrderObserver: AnyObject, Sendable {
    func didAccept(_ order: Order) async
  }

  // sample: A veto with its reason that fails closed
  enum Decision: Sendable, Equatable {
    case accepted
    case refused(because: String)
  }

  /// The first objection that comes; one of its own if a gate is missing.
  struct FirstObjection: Combiner {
    private let gates: Int
    private var answers = 0

    init(ofAtLeast gates: Int) { self.gates = gates }

    mutating func receive(_ objection: String?, from position: Int) -> Decision? {
      answers += 1
      return objection.map { .refused(because: $0) }
    }
    mutating func finish() -> Decision {
      answers >= gates ? .accepted : .refused(because: "a gate is missing")
    }
  }
  // end of sample

  actor OrderService {
    nonisolated let hub: DelegateHub
    private let gates: Int
    private var isStopped = false
    private(set) var accepted: [Order] = []

    init(hub: DelegateHub = DelegateHub(), gates: Int) { (self.hub, self.gates) = (hub, gates) }

    /// What becomes of an order; `nil` if the service takes no more of them.
    func place(_ order: Order) async -> Decision? {
      // On an actor nothing comes between this look and the beginning of the closure.
      if isStopped { return nil }
      return await hub.delayingDrain {
        let decision = await decide(order)
        if decision == .accepted {
          accepted.append(order)
          hub[OrderObserver.self].notify { await $0.didAccept(order) }
        }
        return decision
      }
    }

    /// Takes no more orders, and returns when those under way are decided and all have been told.
    func stop(within patience: Duration) async -> DelegateHub.Leftovers {
      isStopped = true
      return await hub.drain(within: patience)
    }
  }

  private final class Limit: OrderGate {
    func objection(to order: Order) async -> String? {
      order.amount > 100 ? "more than 100" : nil
    }
  }

  private final class Broken: OrderGate {
    func objection(to order: Order) async throws -> String? { throw Refusal(reason: "no database") }
  }

  private final class Slow: OrderGate {
    let gate = Gate()

    func objection(to order: Order) async -> String? {
      await gate.pass()
      return nil
    }
  }

  private actor Audit: OrderObserver {
    let gate = Gate()
    private(set) var numbers: [Int] = []

    func didAccept(_ order: Order) async {
      await gate.pass()
      numbers.append(order.number)
    }
  }

  private let executor = ManualExecutor()
  private let clock = ManualClock()
  private let incidents = Recorder<String>()
  private let service: OrderService

  init() {
    let configuration = DelegateHub.Configuration(
      executor: executor, clock: clock,
      onIncident: { [incidents] in incidents.record("\($0.kind) in \($0.call)") })
    service = OrderService(hub: DelegateHub(configuration), gates: 1)
  }

  private func place(_ number: Int, amount: Int = 1) throws -> Decision? {
    try executor.drive { [service] in await service.place(Order(number: number, amount: amount)) }
  }

  @Test("an objection comes with its reason, and without one an order is accepted")
  func objection() throws {
    let limit = Limit()
    service.hub.subscribe(limit, to: OrderGate.self)
    #expect(try place(1, amount: 500) == .refused(because: "more than 100"))
    #expect(try place(2, amount: 5) == .accepted)
    withExtendedLifetime(limit) {}
  }

  @Test("an order that is being decided when the service stops is neither lost nor cut short")
  func stopUnderWay() async throws {
    let (slow, audit) = (Slow(), Audit())
    audit.gate.open()
    service.hub.subscribe(slow, to: OrderGate.self)
    service.hub.subscribe(audit, to: OrderObserver.self)
    let order = executor.start { [service] in await service.place(Order(number: 1, amount: 1)) }
    let stop = executor.start { [service] in await service.stop(within: .seconds(10)) }
    executor.run()
    #expect(!order.isOver && !stop.isOver)
    #expect(try place(2) == nil)

    slow.gate.open()
    executor.run()
    #expect(order.value == .accepted)
    #expect(try #require(stop.value).isEmpty)
    #expect(await service.accepted.map(\.number) == [1])
    #expect(await audit.numbers == [1])
  }

  @Test("when the stop has returned, whoever watches has been told of each accepted order")
  func stopAtAnyMoment() throws {
    let exploration = try exploreSchedules(seeds: 0..<500) { executor in
      let service = OrderService(hub: DelegateHub(on: executor, clock: executor.clock), gates: 1)
      let (limit, audit) = (Limit(), Audit())
      audit.gate.open()
      service.hub.subscribe(limit, to: OrderGate.self)
      service.hub.subscribe(audit, to: OrderObserver.self)
      async let decision = service.place(Order(number: 1, amount: 1))
      async let left = service.stop(within: .seconds(10))
      let isAtRest = await left.isEmpty
      let told = await audit.numbers
      try #require(isAtRest)
      try #require(await decision == (told == [1] ? .accepted : nil))
      withExtendedLifetime(limit) {}
    }
    #expect(exploration.distinctSchedules > 1)
  }
}

extension OrderServiceProgram.OrderService {
  private typealias OrderGate = OrderServiceProgram.OrderGate
  private typealias FirstObjection = OrderServiceProgram.FirstObjection

  fileprivate func decide(_ order: Purchase) async -> OrderServiceProgram.Decision {
    // sample: A refusal with a reason
    let decision = await hub[OrderGate.self].ask(
      combining: FirstObjection(ofAtLeast: gates), within: .milliseconds(50),
      absent: .counts(as: "a gate has not answered")
    ) { try await $0.objection(to: order) }
    // end of sample
    return decision
  }
}

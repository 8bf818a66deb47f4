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

    init(hub: DelegateHub = DelegateHub(), gates: Int) { (self.hub, self.gates) = (hub, gates) }

    /// What becomes of an order; `nil` if the service takes no more of them.
    func place(_ order: Order) async -> Decision? {
      // On an actor nothing comes between this look and the beginning of the closure.
      if isStopped { return nil }
      return await hub.delayingDrain {
        let decision = await decide(order)
        if decision == .accepted {
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

  private actor Audit: OrderObserver {
    private(set) var numbers: [Int] = []

    func didAccept(_ order: Order) async { numbers.append(order.number) }
  }

  @Test("an objection comes with its reason, and without one an order is accepted")
  func objection() throws {
    let (executor, limit) = (ManualExecutor(), Limit())
    let service = OrderService(hub: DelegateHub(on: executor, clock: ManualClock()), gates: 1)
    service.hub.subscribe(limit, to: OrderGate.self, hold: .strongly)
    let refusal = Decision.refused(because: "more than 100")
    for (amount, expected) in [(500, refusal), (5, .accepted)] {
      let order = Order(number: 1, amount: amount)
      #expect(try executor.drive { await service.place(order) } == expected)
    }
  }

  @Test("when the stop has returned, whoever watches has been told of each accepted order")
  func stopAtAnyMoment() throws {
    let exploration = try exploreSchedules(seeds: 0..<500) { executor in
      let service = OrderService(hub: DelegateHub(on: executor, clock: executor.clock), gates: 1)
      let (limit, audit) = (Limit(), Audit())
      service.hub.subscribe(limit, to: OrderGate.self, hold: .strongly)
      service.hub.subscribe(audit, to: OrderObserver.self)
      async let decision = service.place(Order(number: 1, amount: 1))
      async let left = service.stop(within: .seconds(10))
      let isAtRest = await left.isEmpty
      let told = await audit.numbers
      try #require(isAtRest)
      try #require(await decision == (told == [1] ? .accepted : nil))
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

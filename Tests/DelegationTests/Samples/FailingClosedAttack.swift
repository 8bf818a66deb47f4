import Delegation
import Testing

/// Tries to get past each sample that claims to fail closed, with every gate in turn at fault.
@Suite("Samples of failing closed: the attack", .inTurn)
struct FailingClosedAttack {
  /// What is wrong with a gate.
  enum Fault: CaseIterable {
    case denies, throwsAnError, hangs
    /// It answers "yes" after the deadline.
    case isLate
    case hasDied, neverSubscribed, wasUnsubscribed
    /// Its own error handling unsubscribes it.
    case leaves
    /// All gates wait for an executor that one of them occupies, so the innocent are late too.
    case holdsUpAll
  }

  /// A sample, as something that one gets past or not.
  struct Sample: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var gates = 2
    var hasDeadline = true
    let isPassed: @Sendable (DelegateHub) async -> Bool

    static let all = [
      Sample(testDescription: "README's door", gates: 1, hasDeadline: false) {
        await ClosedSamples.mayEnter("Alice", $0)
      },
      Sample(testDescription: "the payment") { await ClosedSamples.mayPay(7, $0) },
      Sample(testDescription: "the sample at Absence") {
        await ClosedSamples.isAllowed("Alice", $0)
      },
      Sample(testDescription: "the chain") {
        await ClosedSamples.Screen(hub: $0, filterCount: 2).screened("text") != nil
      },
      Sample(testDescription: "the order") {
        let service = OrderServiceProgram.OrderService(hub: $0, gates: 2)
        return await service.place(Purchase(number: 1, amount: 1)) == .accepted
      },
      Sample(testDescription: "in turn, where nil means no", gates: 1) {
        await $0[ClosedSamples.Authenticator.self].askInTurn(
          within: .milliseconds(200), absent: .abstains
        ) { try await $0.user(for: "token") } != nil
      },
    ]

    /// What the samples said before: each is open if the right gate is at fault.
    static let open = [
      Sample(testDescription: "a vote without a number") {
        await $0[ClosedSamples.PaymentGate.self].vote(
          within: .milliseconds(50), absent: .counts(as: false)
        ) { try await $0.mayPay(7) }
      },
      Sample(testDescription: "an objection that one gate's silence is enough for") {
        let service = OrderServiceProgram.OrderService(hub: $0, gates: 1)
        return await service.place(Purchase(number: 1, amount: 1)) == .accepted
      },
      Sample(testDescription: "a chain that does not count") {
        await $0[ClosedSamples.MessageFilter.self].pass(
          "text", within: .milliseconds(200),
          absent: .counts(as: nil)
        ) { try await $0.filter($1) } != nil
      },
    ]
  }

  private final class Keeper: ClosedSamples.PaymentGate, ClosedSamples.DoorGate,
    ClosedSamples.Gatekeeper, ClosedSamples.MessageFilter, ClosedSamples.Authenticator,
    OrderServiceProgram.OrderGate
  {
    private let answer: @Sendable (Keeper) async throws -> Bool

    init(_ answer: @escaping @Sendable (Keeper) async throws -> Bool) { self.answer = answer }

    func mayPay(_ amount: Int) async throws -> Bool { try await answer(self) }
    func mayEnter(_ guest: String) async -> Bool { (try? await answer(self)) ?? false }
    func filter(_ text: String) async throws -> String? { try await answer(self) ? text : nil }
    func user(for token: String) async throws -> String? { try await answer(self) ? "Ann" : nil }
    func objection(to order: Purchase) async throws -> String? {
      try await answer(self) ? nil : "no"
    }

    func subscribe(to hub: DelegateHub, on lane: ManualExecutor?) -> [DelegateHub.Subscription] {
      hub.subscribe(
        self, toEachOf: ClosedSamples.PaymentGate.self, ClosedSamples.DoorGate.self,
        ClosedSamples.Gatekeeper.self, ClosedSamples.MessageFilter.self,
        ClosedSamples.Authenticator.self, OrderServiceProgram.OrderGate.self, on: lane)
    }
  }

  /// A hub whose gates are sound but for one.
  private final class Scene: Sendable {
    let stage: Stage
    let lane = ManualExecutor()
    private let gate = Gate()
    private let fault: Fault?
    private let keepers: [Keeper]

    // Expelling: the hub's owner unsubscribes whoever is late or throws.
    init(gates: Int, fault: Fault?, at index: Int, expelling: Bool) {
      self.fault = fault
      stage = Stage {
        $0.onIncident = { incident in
          if expelling, incident.kind != .unheard { incident.subscription.cancel() }
        }
      }
      let (hub, gate, lane) = (stage.hub, gate, lane)
      var keepers: [Keeper] = []
      for position in 0..<gates {
        let fault = position == index ? fault : nil
        let keeper = Keeper { keeper in
          switch fault {
          case .denies: return false
          case .throwsAnError: throw Refusal()
          case .hangs, .isLate: await gate.pass()
          case .leaves:
            hub.unsubscribe(keeper)
            throw Refusal()
          default: break
          }
          return true
        }
        if fault == .neverSubscribed { continue }
        let subscriptions = keeper.subscribe(
          to: hub, on: self.fault == .holdsUpAll ? lane : nil)
        if fault == .wasUnsubscribed { for subscription in subscriptions { subscription.cancel() } }
        if fault != .hasDied { keepers.append(keeper) }
      }
      self.keepers = keepers
    }

    /// Whether a guest gets past a sample; `nil` if the call does not return.
    func result(of sample: Sample) -> Bool? {
      let call = stage.start { await sample.isPassed($0) }
      stage.advance(by: .milliseconds(50))
      stage.advance(by: .milliseconds(150))
      let result = call.result
      // After the deadline the late answer, and those that wait for the executor go on.
      if fault == .isLate { gate.open() }
      while lane.run() + stage.executor.run() > 0 {}
      return result
    }

    func end() {
      gate.open()
      while lane.run() + stage.executor.run() > 0 {}
    }
  }

  @Test("with sound gates a guest gets in", arguments: Sample.all)
  func sound(sample: Sample) {
    let scene = Scene(gates: sample.gates, fault: nil, at: 0, expelling: true)
    for _ in 1...3 { #expect(scene.result(of: sample) == true) }
  }

  @Test("with any gate at fault the guest stays out", arguments: Sample.all, Fault.allCases)
  func closed(sample: Sample, fault: Fault) {
    #expect(ways(past: sample, fault: fault) == [])
  }

  @Test("the attack gets past what does not count its gates", arguments: Sample.open)
  func open(sample: Sample) {
    for fault in Fault.allCases {
      // Where all gates are expelled, one that is counted is enough to notice.
      if fault == .holdsUpAll { continue }
      #expect(ways(past: sample, fault: fault).isEmpty == (fault == .denies), "\(fault)")
    }
  }

  /// With which gate at fault, and in which round, the guest gets in.
  private func ways(past sample: Sample, fault: Fault) -> [String] {
    // Without a deadline nobody is late: the call waits.
    if fault == .isLate, !sample.hasDeadline { return [] }
    var ways: [String] = []
    for index in 0..<sample.gates {
      for expelling in [false, true] {
        let scene = Scene(gates: sample.gates, fault: fault, at: index, expelling: expelling)
        for round in 1...3 {
          // A gate that was late once, and is left alone, may answer in time the next time.
          let isMended = round > 1 && !expelling && fault == .isLate
          if scene.result(of: sample) == true, !isMended {
            ways.append("gate \(index), \(expelling ? "expelled" : "left alone"), round \(round)")
          }
        }
        scene.end()
      }
    }
    return ways
  }
}

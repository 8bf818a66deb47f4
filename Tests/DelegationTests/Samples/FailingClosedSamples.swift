import Delegation
import Testing

@Suite("Samples of failing closed", .inTurn)
struct FailingClosedSamples {
  protocol Gatekeeper: AnyObject, Sendable {
    func mayPay(_ amount: Int) async throws -> Bool
  }

  private final class Keeper: Gatekeeper {
    let answer: @Sendable (Int) async throws -> Bool

    init(_ answer: @escaping @Sendable (Int) async throws -> Bool) { self.answer = answer }

    func mayPay(_ amount: Int) async throws -> Bool { try await answer(amount) }
  }

  private func mayPay(_ amount: Int, _ hub: DelegateHub) async -> Bool {
    // sample: A vote that fails closed
    let mayPay = await hub.vote(
      Gatekeeper.self, by: .unanimous(ofAtLeast: 2), within: .milliseconds(50),
      absent: .counts(as: false)
    ) { try await $0.mayPay(amount) }
    // end of sample
    return mayPay
  }

  /// What may be wrong with the second of two gates.
  enum Fault: CaseIterable {
    case none, denies, throwsAnError, hangs, hasDied, hasLeft, neverSubscribed
  }

  @Test("only if both gates have said yes is the outcome true", arguments: Fault.allCases)
  func gates(fault: Fault) async {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let sound = Keeper { $0 < 100 }
    hub.subscribe(sound, to: Gatekeeper.self)
    let gate = Gate()
    var second: Keeper? = Keeper { _ in
      switch fault {
      case .denies: return false
      case .throwsAnError: throw Refusal()
      case .hangs: await gate.pass()
      default: break
      }
      return true
    }
    if let second, fault != .neverSubscribed {
      let subscription = hub.subscribe(second, to: Gatekeeper.self)
      if fault == .hasLeft { subscription.cancel() }
    }
    if fault == .hasDied { second = nil }
    // A machine that is busy for 50 ms must not decide this test.
    var isAllowed = await mayPay(7, hub)
    if fault == .none {
      for _ in 0..<100 where !isAllowed { isAllowed = await mayPay(7, hub) }
    }
    #expect(isAllowed == (fault == .none))
    #expect(!(await mayPay(100, hub)))
    gate.open()
    await hub.drain()
    withExtendedLifetime((sound, second)) {}
  }

  @Test("without the number, and without the word for absentees, the same faults let it pass")
  func failingOpen() async {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    #expect(await hub.vote(Gatekeeper.self, absent: .counts(as: false)) { try await $0.mayPay(7) })
    let broken = Keeper { _ in throw Refusal() }
    hub.subscribe(broken, to: Gatekeeper.self)
    #expect(await hub.vote(Gatekeeper.self, absent: .abstains) { try await $0.mayPay(7) })
  }

  @Test("a service does not start without its gates")
  func start() async {
    let hub = DelegateHub()
    struct NoGates: Error {}
    func start() throws {
      // sample: No start without gates
      guard hub.hasSubscribers(of: Gatekeeper.self) else { throw NoGates() }
      // end of sample
    }
    #expect(throws: NoGates.self) { try start() }
    let keeper = Keeper { _ in true }
    hub.subscribe(keeper, to: Gatekeeper.self)
    #expect(throws: Never.self) { try start() }
    withExtendedLifetime(keeper) {}
  }
}

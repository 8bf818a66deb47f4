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

  /// What a hub has after a fault of the second of two gates.
  private final class Scene: Sendable {
    let hub = DelegateHub(.init(onIncident: { _ in }))
    let gate = Gate()
    private let sound = Keeper { $0 < 100 }
    private let second: Keeper?

    init(_ fault: Fault) {
      hub.subscribe(sound, to: Gatekeeper.self)
      let gate = gate
      let keeper = Keeper { _ in
        switch fault {
        case .denies: return false
        case .throwsAnError: throw Refusal()
        case .hangs: await gate.pass()
        default: break
        }
        return true
      }
      second = fault == .hasDied ? nil : keeper
      if fault == .neverSubscribed { return }
      let subscription = hub.subscribe(keeper, to: Gatekeeper.self)
      if fault == .hasLeft { subscription.cancel() }
    }
  }

  @Test("only if both gates have said yes is the outcome true", arguments: Fault.allCases)
  func gates(fault: Fault) async {
    let scene = Scene(fault)
    // A machine that is busy for 50 ms must not decide this test.
    var isAllowed = await mayPay(7, scene.hub)
    if fault == .none {
      for _ in 0..<100 where !isAllowed { isAllowed = await mayPay(7, scene.hub) }
    }
    #expect(isAllowed == (fault == .none))
    #expect(!(await mayPay(100, scene.hub)))
    scene.gate.open()
    await scene.hub.drain()
  }

  @Test("what is not there does not say no", arguments: Fault.allCases)
  func failingOpen(fault: Fault) async throws {
    let scene = Scene(fault)
    let isMissing = [Fault.none, .hasDied, .hasLeft, .neverSubscribed].contains(fault)
    switch fault {
    case .hangs: break  // it waits for ever
    case .throwsAnError:
      await #expect(throws: Refusal.self) {
        try await scene.hub.vote(Gatekeeper.self) { try await $0.mayPay(7) }
      }
    default:
      #expect(try await scene.hub.vote(Gatekeeper.self) { try await $0.mayPay(7) } == isMissing)
    }
    let isAllowed = await scene.hub.vote(
      Gatekeeper.self, within: fault == .hangs ? .milliseconds(50) : nil,
      absent: .counts(as: false)
    ) { try await $0.mayPay(7) }
    #expect(isAllowed == isMissing)
    scene.gate.open()
    await scene.hub.drain()
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

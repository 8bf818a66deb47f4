import Delegation
import Testing

/// The samples that claim to fail closed, in one place; `FailingClosedAttack` tries to open them.
enum ClosedSamples {
  // sample: A protocol of gates
  protocol PaymentGate: AnyObject, Sendable {
    func mayPay(_ amount: Int) async throws -> Bool
  }
  // end of sample

  /// As in the program on README.
  protocol DoorGate: AnyObject, Sendable {
    func mayEnter(_ guest: String) async -> Bool
  }

  protocol Gatekeeper: AnyObject, Sendable {
    func mayEnter(_ guest: String) async throws -> Bool
  }

  protocol MessageFilter: AnyObject, Sendable {
    func filter(_ text: String) async throws -> String?
  }

  protocol Authenticator: AnyObject, Sendable {
    func user(for token: String) async throws -> String?
  }

  static func mayEnter(_ guest: String, _ hub: DelegateHub) async -> Bool {
    await hub[DoorGate.self].vote(by: .unanimous(ofAtLeast: 1), { await $0.mayEnter(guest) })
  }

  static func mayPay(_ amount: Int, _ hub: DelegateHub) async -> Bool {
    // sample: A vote that fails closed
    let mayPay = await hub[PaymentGate.self].vote(
      by: .unanimous(ofAtLeast: 2), within: .milliseconds(50), absent: .counts(as: false)
    ) { try await $0.mayPay(amount) }
    // end of sample
    return mayPay
  }

  /// The same, and reports that a gate is missing.
  static func mayPay(
    _ amount: Int, _ hub: DelegateHub, reportMissingGate: @Sendable () -> Void
  ) async -> Bool {
    let mayPay = await mayPay(amount, hub)
    if !mayPay, hub[PaymentGate.self].count < 2 {
      reportMissingGate()  // an error in the log, and a counter that has an alarm
    }
    return mayPay
  }

  static func isAllowed(_ guest: String, _ hub: DelegateHub) async -> Bool {
    // sample: Absence
    let isAllowed = await hub[Gatekeeper.self].vote(
      by: .unanimous(ofAtLeast: 2), within: .milliseconds(50), absent: .counts(as: false)
    ) { try await $0.mayEnter(guest) }
    // end of sample
    return isAllowed
  }

  struct Screen {
    let hub: DelegateHub
    let filterCount: Int

    // sample: A chain that fails closed
    /// `nil` if a filter stops it or has not seen it.
    func screened(_ message: String) async -> String? {
      let passed = await hub[MessageFilter.self].pass(
        (text: message, seen: 0), within: .milliseconds(200), absent: .counts(as: nil)
      ) { filter, value in
        try await filter.filter(value.text).map { (text: $0, seen: value.seen + 1) }
      }
      guard let passed, passed.seen == filterCount else { return nil }
      return passed.text
    }
    // end of sample
  }
}

@Suite("Samples of failing closed", .inTurn)
struct FailingClosedSamples {
  private typealias PaymentGate = ClosedSamples.PaymentGate

  private final class Keeper: PaymentGate {
    let gate: Gate?
    let isBroken: Bool
    let asked = Recorder<Int>()

    init(_ gate: Gate? = nil, throwing isBroken: Bool = false) {
      (self.gate, self.isBroken) = (gate, isBroken)
    }

    func mayPay(_ amount: Int) async throws -> Bool {
      asked.record(amount)
      await gate?.pass()
      if isBroken { throw CancellationError() }
      return true
    }
  }

  /// Why one of two gates has not answered.
  enum Silence: CaseIterable {
    case threw, late, diedBeforeTheFirstCall, diedLater, unsubscribed, neverSubscribed
  }

  @Test("what the hub tells of a gate that has not answered", arguments: Silence.allCases)
  func missing(_ silence: Silence) async {
    let (incidents, clock) = (Recorder<DelegateHub.Incident.Kind>(), ManualClock())
    let hub = DelegateHub(.init(clock: clock, onIncident: { incidents.record($0.kind) }))
    let (sound, gate) = (Keeper(), Gate())
    var other: Keeper? = Keeper(silence == .late ? gate : nil, throwing: silence == .threw)
    hub.subscribe(sound, to: PaymentGate.self)
    if silence != .neverSubscribed, let other { hub.subscribe(other, to: PaymentGate.self) }
    if silence == .diedLater {
      #expect(await ClosedSamples.mayPay(7, hub, reportMissingGate: {}))
    }
    if silence == .unsubscribed, let other { hub.unsubscribe(other) }
    if [.diedBeforeTheFirstCall, .diedLater].contains(silence) { other = nil }
    let reports = Recorder<Void>()
    async let mayPay = ClosedSamples.mayPay(7, hub) { reports.record(()) }
    if silence == .late {
      await gate.arrivals()
      await clock.waitForSleepers()
      // Until the other one has answered.
      while hub.statistics().questions.answered == 0 { await Task.yield() }
      clock.advance(by: .milliseconds(50))
    }
    #expect(!(await mayPay))
    gate.open()
    await hub.drain()
    let counts = hub.statistics().questions
    let isThere = [.threw, .late].contains(silence)
    #expect(reports.count == (isThere ? 0 : 1))
    switch silence {
    case .threw: #expect(incidents.history == [.failed] && counts.failed == 1)
    case .late: #expect(incidents.history == [.late] && counts.late == 1)
    case .diedBeforeTheFirstCall: #expect(incidents.history == [.unheard])
    case .diedLater: #expect(incidents.history.isEmpty)
    case .unsubscribed, .neverSubscribed: #expect(incidents.history == [.tooFew])
    }
    if !isThere {
      // Nobody is asked any more: even the counts stand still.
      #expect(!(await ClosedSamples.mayPay(7, hub) { reports.record(()) }))
      #expect(hub.statistics().questions == counts && reports.count == 2)
    }
    withExtendedLifetime((sound, other)) {}
  }
}

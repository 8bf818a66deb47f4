import DelegationTesting
import Testing

// sample: A library with a seam for its tests
/// Hears a bell.
public protocol DoorbellDelegate: AnyObject, Sendable {
  func mayOpen() async -> Bool
}

/// Rings, and learns whether somebody opens.
public final class Doorbell: Sendable {
  private let answering: Delegates<any DoorbellDelegate>

  /// For those that hear it.
  public var delegates: DelegateRegistry<any DoorbellDelegate> { answering.registry }

  /// Makes a bell that nobody hears.
  public convenience init() { self.init(hub: DelegateHub()) }

  /// For tests.
  init(hub: DelegateHub) { answering = Delegates(of: hub) }

  /// Whether somebody opens within half a minute; false if nobody is there.
  public func ring() async -> Bool {
    await answering.vote(by: .anyone, within: .seconds(30), absent: .abstains) {
      await $0.mayOpen()
    }
  }
}
// end of sample

@Suite("Samples of testing a library, and of incidents", .inTurn)
struct SeamSamples {
  private final class Sleeper: DoorbellDelegate {
    func mayOpen() async -> Bool {
      await Gate().pass()
      return true
    }
  }

  @Test("half a minute passes in no time")
  func seam() {
    let sleeper = Sleeper()
    let (executor, clock) = (ManualExecutor(), ManualClock())
    let doorbell = Doorbell(hub: DelegateHub(on: executor, clock: clock))
    doorbell.delegates.subscribe(sleeper)

    let isOpened = executor.start { await doorbell.ring() }
    #expect(isOpened.value == nil)  // it waits for the sleeper
    clock.advance(by: .seconds(30))
    executor.run()
    #expect(isOpened.value == false)
    withExtendedLifetime(sleeper) {}
  }

  @Test("clients make it without one")
  func clients() {
    Doorbell().delegates.unsubscribeAll()
  }

  private protocol DoorDelegate: AnyObject, Sendable {
    func didEnter(_ guest: String) throws
  }

  private final class Register: DoorDelegate {
    struct IsFull: Error {}

    func didEnter(_ guest: String) throws { throw IsFull() }
  }

  @Test("an incident is asserted", .timeLimit(.minutes(10)))
  func incident() async {
    let register = Register()
    // sample: An incident in a test
    let incidents = Recorder<DelegateHub.Incident>()
    let hub = DelegateHub(.init(onIncident: { incidents.record($0) }))
    hub.subscribe(register, to: DoorDelegate.self)

    hub[DoorDelegate.self].notify { try $0.didEnter("Alice") }

    #expect(await hub.drain(within: .seconds(60)).isEmpty)  // waits for onIncident as well
    #expect(incidents.events.map(\.kind) == [.failed])
    #expect(incidents.events.first?.error is Register.IsFull)
    // end of sample
    withExtendedLifetime(register) {}
  }
}

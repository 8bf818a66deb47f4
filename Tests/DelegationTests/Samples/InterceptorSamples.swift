import Delegation
import DelegationTesting
import Testing

private protocol Gatekeeper: AnyObject, Sendable {
  func mayEnter(_ guest: String) async -> Bool
}

private final class Bouncer: Gatekeeper {
  func mayEnter(_ guest: String) async -> Bool { guest != "Mallory" }
}

// So that the sample's `print` is recorded.
private let lines = Recorder<String>()

private func print(_ line: String) { lines.record(line) }

// sample: Interceptor
struct Timing: DelegateHub.Interceptor {
  let clock = ContinuousClock()

  func intercept(
    _ call: DelegateHub.HandlerCall,
    next: nonisolated(nonsending) () async -> DelegateHub.HandlerOutcome
  ) async -> DelegateHub.HandlerOutcome {
    let start = clock.now
    let outcome = await next()
    print("\(call.subscriber) \(outcome) in \(call.call) after \(clock.now - start)")
    return outcome
  }
}
// end of sample

@Suite("Samples of interceptors", .inTurn)
struct InterceptorSamples {
  @Test("one that prints how long each handler has taken")
  func timing() async {
    // sample: Interceptor
    let hub = DelegateHub(.init(interceptors: [Timing()]))
    // end of sample
    hub.subscribe(Bouncer(), to: Gatekeeper.self, hold: .strongly)
    #expect(await hub[Gatekeeper.self].vote { await $0.mayEnter("Mallory") } == false)
    #expect(lines.events.count == 1 && lines.events.first?.contains("Bouncer") == true)
    #expect(lines.events.first?.contains(" returned in vote after ") == true)
  }
}

import Dispatch
import Testing

@testable import Delegation

@Suite("Guarantee 3: no lock, no hub", .inTurn)
struct Guarantee03ReentrancyTests {
  @Test("every call may be made from everywhere", arguments: Place.allCases, Call.allCases)
  func everyCall(place: Place, call: Call) async {
    let scene = Scene(place)
    let made = Gate()
    scene.trigger.set {
      guard call.isAwaited else {
        call.make(in: scene)
        return made.arrive()
      }
      Task {
        await call.make(in: scene)
        made.arrive()
      }
    } asynchronously: {
      await call.make(in: scene)
      made.arrive()
    }
    await scene.play()
    scene.end()
    await made.arrivals()
    await expectService(by: scene.hub)
    #expect(await scene.hub.drain().isEmpty)
  }

  @Test(
    "what runs anywhere may take its time: the hub serves everybody else meanwhile",
    arguments: Place.allCases)
  func blocked(place: Place) async {
    let scene = Scene(place, on: Self.pool)
    let entered = Gate()
    let served = DispatchSemaphore(value: 0)
    let outcome = Recorder<DispatchTimeoutResult>()
    let block: @Sendable () -> Void = {
      entered.arrive()
      // A bound for the case that the guarantee is broken; nobody waits for it to pass.
      outcome.record(served.wait(timeout: .now() + Double(InTurn.patience)))
    }
    scene.trigger.set(synchronously: block, asynchronously: { block() })
    let other = Task(executorPreference: Self.pool) {
      await entered.arrivals()
      await expectService(by: scene.hub)
      for call in Call.allCases where !call.waitsForOthers {
        await call.make(in: scene)
      }
      served.signal()
    }
    await Task(executorPreference: Self.pool) { await scene.play() }.value
    scene.end()
    #expect(await outcome.history(of: 1) == [.success])
    await other.value
    #expect(await scene.hub.drain().isEmpty)
  }

  /// Subscribes somebody, and expects that it is told and asked.
  private func expectService(by hub: DelegateHub) async {
    let client = Probe("client")
    let subscription = hub.subscribe(client, to: Listener.self, priority: .max)
    hub[Listener.self].notify() { if $0.name == "client" { $0.log.record(1) } }
    #expect(await client.log.history(of: 1) == [1])
    let asked = await hub[Listener.self].ask(combining: .first()) { $0.name }
    #expect(asked != nil)
    #expect(hub[Listener.self].subscribers.first === client)
    subscription.cancel()
  }

  /// For the threads that are blocked, so that other tests keep theirs.
  private static let pool = ThreadPool(threads: 32)
}

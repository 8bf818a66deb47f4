import Dispatch
import Testing

@testable import Delegation

@Suite("Guarantee 3: no lock, when handlers are cancelled", .inTurn)
struct Guarantee03CancellationHandlerTests {
  @Test("a cancellation handler may cancel the task that asked")
  func cancellingTheAsker() async {
    // In a process of its own: a lock that is taken twice ends the process.
    await #expect(processExitsWith: .success) {
      let hub = DelegateHub()
      let gate = Gate()
      let probes = Probe.many(2)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      let asker = Recorder<Task<Bool, Never>>()
      asker.record(
        Task {
          await hub[Listener.self].vote() { probe in
            if probe.name == "1" {
              await gate.arrivals()
              return false
            }
            let task = await asker.history(of: 1)[0]
            await withTaskCancellationHandler {
              await gate.pass()
            } onCancel: {
              task.cancel()
              gate.open()
            }
            return true
          }
        })
      #expect(await asker.history[0].value == false)
      #expect(await hub.drain().isEmpty)
    }
  }

  @Test("a cancellation handler that takes its time does not hold up the outcome")
  func slowCancellationHandler() async {
    let hub = DelegateHub(on: Self.pool)
    let gate = Gate()
    let returned = DispatchSemaphore(value: 0)
    let waited = Recorder<DispatchTimeoutResult>()
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let outcome = await hub[Listener.self].vote() { probe in
      if probe.name == "1" {
        await gate.arrivals()
        return false
      }
      await withTaskCancellationHandler {
        await gate.pass()
      } onCancel: {
        // A bound for the case that the guarantee is broken; nobody waits for it to pass.
        waited.record(returned.wait(timeout: .now() + Double(InTurn.patience)))
      }
      return true
    }
    returned.signal()
    #expect(!outcome)
    #expect(await waited.history(of: 1) == [.success])
    gate.open()
    #expect(await hub.drain().isEmpty)
  }

  private static let pool = ThreadPool(threads: 3)
}

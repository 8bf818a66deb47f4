import Testing

@testable import Delegation

@Suite("Waiting: waits that are given up")
struct WaitingGivenUpTests {
  private let stage = Stage()
  private let gate = Gate()
  private let probe = Probe()
  private let subscription: DelegateHub.Subscription

  init() {
    subscription = stage.hub.subscribe(probe, to: Listener.self)
    let gate = gate
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
  }

  private var isAwaited: Bool { stage.hub.activity.workers.isAwaited }

  @Test("at its deadline, or with its task, a wait ends, and nobody tells of ends any more")
  func lastOne() {
    let late = stage.start { await $0.drain(within: .seconds(5)).isEmpty }
    #expect(isAwaited)
    stage.advance(by: .seconds(5))
    #expect(late.result == false)
    #expect(!isAwaited)

    let cancelled = stage.start { await $0.drain().isEmpty }
    #expect(isAwaited)
    cancelled.cancel()
    stage.run()
    #expect(cancelled.result == false)
    #expect(!isAwaited)
    stage.open(gate)
  }

  @Test("one that is given up before it begins asks nobody to tell of ends")
  func beforeItBegins() {
    let late = stage.perform { await $0.drain(within: .zero).isEmpty }
    #expect(late == false)
    let cancelled = stage.perform { hub in
      await Task(executorPreference: stage.executor) {
        withUnsafeCurrentTask { $0?.cancel() }
        return await hub.drain().isEmpty
      }.value
    }
    #expect(cancelled == false)
    #expect(!isAwaited)
    stage.open(gate)
  }

  @Test("those that are left are told of ends all the same")
  func others() {
    let patient = stage.start { await $0.drain().isEmpty }
    let late = stage.start { await $0.drain(within: .seconds(5)).isEmpty }
    stage.advance(by: .seconds(5))
    #expect(late.result == false)
    #expect(patient.result == nil)
    #expect(isAwaited)
    stage.open(gate)
    #expect(patient.result == true)
    #expect(!isAwaited)
  }
}

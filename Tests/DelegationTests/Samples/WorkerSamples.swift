import Delegation
import Testing

@Suite("Samples of a worker", .inTurn)
struct WorkerSamples {
  /// A piece of work, in the documentation's samples.
  struct Subtask: Sendable, Hashable {
    let number: Int
  }

  // sample: DelegateHub
  protocol WorkerGate: AnyObject, Sendable {  // decides
    func worker(_ worker: Worker, shouldPerform subtask: Subtask) async -> Bool
  }
  protocol WorkerObserver: AnyObject, Sendable {  // is told
    func worker(_ worker: Worker, didPerform subtask: Subtask)
  }
  // end of sample

  final class Worker: Sendable {
    let performed = Recorder<Subtask>()

    func work(on subtask: Subtask, asking quota: any WorkerGate) async -> DelegateHub {
      // sample: DelegateHub
      let hub = DelegateHub()
      hub.subscribe(quota, toEachOf: WorkerGate.self, WorkerObserver.self)  // held weakly

      // False if no gate has answered, because it has died, say.
      let mayPerform = await hub[WorkerGate.self].vote(by: .unanimous(ofAtLeast: 1)) {
        await $0.worker(self, shouldPerform: subtask)
      }
      if mayPerform {
        perform(subtask)
        hub[WorkerObserver.self].notify { $0.worker(self, didPerform: subtask) }
      }
      // end of sample
      return hub
    }

    private func perform(_ subtask: Subtask) { performed.record(subtask) }
  }

  private final class Quota: WorkerGate, WorkerObserver {
    let limit: Int
    let told = Recorder<Subtask>()

    init(limit: Int) { self.limit = limit }

    func worker(_ worker: Worker, shouldPerform subtask: Subtask) async -> Bool {
      subtask.number <= limit
    }
    func worker(_ worker: Worker, didPerform subtask: Subtask) { told.record(subtask) }
  }

  @Test("a worker asks before, and tells after", arguments: [1, 2])
  func askAndTell(number: Int) async {
    let (worker, quota) = (Worker(), Quota(limit: 1))
    let hub = await worker.work(on: Subtask(number: number), asking: quota)
    #expect(await hub.drain().isEmpty)
    let allowed = number <= 1 ? [Subtask(number: number)] : []
    #expect(worker.performed.history == allowed && quota.told.history == allowed)
  }

  @Test("a subscriber with a higher priority is served first, and all are asked")
  func subscribe() async {
    let (quota, audit) = (Quota(limit: 1), Quota(limit: 9))
    let hub = DelegateHub()
    let (worker, subtask) = (Worker(), Subtask(number: 1))
    // sample: subscribe
    hub.subscribe(audit, to: WorkerGate.self)
    hub.subscribe(quota, to: WorkerGate.self, priority: 10)  // asked first
    // end of sample
    let subscribers = hub[WorkerGate.self].subscribers.map(ObjectIdentifier.init)
    #expect(subscribers == [ObjectIdentifier(quota), ObjectIdentifier(audit)])
    #expect(await hub[WorkerGate.self].vote { await $0.worker(worker, shouldPerform: subtask) })
  }
}

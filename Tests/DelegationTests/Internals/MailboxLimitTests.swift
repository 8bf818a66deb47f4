import Dispatch
import Testing

@testable import Delegation

@Suite("Mailboxes with limits, and dispatch queues", .inTurn)
struct MailboxLimitTests {
  @Test("a mailbox with a limit goes on with the latest, and a new limit holds for what waits")
  func limits() {
    let policies: [DelegateHub.MailboxPolicy?] = [nil, .latest, .dropOldest(limit: 3), .unbounded]
    for policy in policies {
      for newer in policies {
        let (stage, gate, probe) = (Stage(), Gate(), Probe())
        stage.hub.subscribe(probe, to: Listener.self, mailbox: policy)
        stage.hub[Listener.self].notify { _ in await gate.pass() }
        stage.run()
        for number in 1...9 { stage.hub[Listener.self].notify { $0.log.record(number) } }
        stage.run()
        stage.hub.subscribe(probe, to: Listener.self, mailbox: newer)
        for number in 10...11 { stage.hub[Listener.self].notify { $0.log.record(number) } }
        stage.run()
        stage.open(gate)
        let present = newer ?? policy
        let waiting = Array(1...9).suffix(policy?.limit ?? 100).suffix(present?.limit ?? 100)
        let expected = Array((waiting + [10, 11]).suffix(present?.limit ?? 100))
        #expect(probe.log.history == expected, "\(policy as Any), then \(newer as Any)")
        #expect(stage.accounts?.dropped == 11 - expected.count)
      }
    }
  }

  /// An actor that lives on a dispatch queue.
  private actor Tenant {
    private let executor: DispatchQueueExecutor
    private(set) var visits = 0

    init(on executor: DispatchQueueExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func visit() -> String {
      dispatchPrecondition(condition: .onQueue(executor.queue))
      visits += 1
      return MarkedQueue.current
    }
  }

  @Test("a dispatch queue runs tasks and an actor, which is isolated there and nowhere else")
  func dispatchQueue() async {
    let executor = DispatchQueueExecutor(MarkedQueue.make("home"))
    let tenant = Tenant(on: executor)
    let places = await withTaskGroup { group in
      for number in 0..<100 {
        group.addTask(executorPreference: number % 2 == 0 ? executor : nil) {
          await tenant.visit()
        }
      }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(places == ["home"])
    let visited = await withCheckedContinuation { continuation in
      executor.queue.async {
        continuation.resume(returning: tenant.assumeIsolated { $0.visit() + "\($0.visits)" })
      }
    }
    #expect(visited == "home101")
    await #expect(processExitsWith: .failure) {
      Tenant(on: DispatchQueueExecutor(DispatchQueue(label: "home"))).preconditionIsolated()
    }
  }
}

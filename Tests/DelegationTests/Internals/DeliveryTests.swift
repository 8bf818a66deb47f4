import Dispatch
import Testing

@testable import Delegation

/// What is delivered where, with how many jobs, and what waits meanwhile.
@Suite("Delivery: executors, jobs and mailboxes", .inTurn)
struct DeliveryTests {
  private let stage = Stage()
  private let shared = ManualExecutor()

  /// Lets everything go as far as it can, there and elsewhere.
  private func run() {
    repeat {
      stage.run()
      shared.run()
    } while stage.executor.pending > 0
  }

  @Test("many on one executor cost it one job, also while it stands still; one that suspends holds up no other")
  func sharedExecutor() {
    let (probes, gate) = (Probe.many(100), Gate())
    let subscriptions = probes.map { stage.hub.subscribe($0, to: Listener.self, on: shared) }
    stage.hub[Listener.self].notify { if $0.name == "30" { await gate.pass() } }
    for number in 0..<10 {
      stage.hub[Listener.self].notify { $0.log.record(number) }
      stage.run()
    }
    #expect(shared.pending == 1)
    // One that ends meanwhile is not called, and nobody waits for it.
    let end = stage.start { _ in await subscriptions[50].cancelAndWait() }
    #expect(end.result != nil)
    run()
    for (number, probe) in probes.enumerated() {
      #expect(probe.log.history == (number == 30 || number == 50 ? [] : Array(0..<10)))
    }
    gate.open()
    run()
    #expect(probes[30].log.history == Array(0..<10))
    #expect(stage.perform { await $0.drain().isEmpty } == true)
    #expect(stage.hub.core.workers.value == 0)
  }

  @Test("no more workers than one for each handler that suspends, and a spare one")
  func workers() {
    for count in 1...4 {
      for suspended in 0...count {
        let (stage, gate, most) = (Stage(), Gate(), Count())
        let probes = stage.cast(count)
        // What is requested by the first posting is not counted.
        stage.hub[Listener.self].notify { _ in }
        stage.run()
        stage.hub[Listener.self].notify { [core = stage.hub.core] probe in
          most.add(max(0, core.workers.value - most.value))
          if let number = Int(probe.name), number < suspended { await gate.pass() }
        }
        stage.run()
        #expect(most.value <= max(1, min(suspended + 2, count)), "\(suspended) of \(count)")
        #expect(stage.hub.core.workers.value == suspended)
        stage.open(gate)
        withExtendedLifetime(probes) {}
      }
    }
  }

  @Test("a suspended handler keeps neither the others' subscriptions nor their executors", arguments: 0..<4)
  func kept(call: Int) {
    let gate = Gate()
    var own: ManualExecutor? = ManualExecutor()
    let executor = Obituary(of: own!)
    let obituaries = Probe.many(20).map { probe in
      Obituary(of: stage.hub.subscribe(probe, to: Listener.self, hold: .strongly, on: probe.name == "3" ? own : nil).node)
    }
    _ = stage.start { hub in
      let all = hub[Listener.self]
      let handle: @Sendable (any Listener) async -> Void = { if $0.name == "7" { await gate.pass() } }
      switch call {
      case 0: all.notify { await handle($0) }
      case 1:
        _ = await all.vote { probe in
          await handle(probe)
          return true
        }
      case 2: _ = await all.collect { await handle($0) }
      default:
        _ = await all.askInTurn { probe -> Int? in
          // The others come after it.
          if probe.name == "19" { await gate.pass() }
          return nil
        }
      }
    }
    for _ in 0..<5 {
      stage.run()
      own?.run()
    }
    stage.hub.unsubscribeAll(from: Listener.self)
    own = nil
    #expect(stage.hub[Listener.self].isEmpty)
    stage.run()
    #expect(gate.arrived == 1)
    #expect(obituaries.count { !$0.isDead } <= 1)
    #expect(executor.isDead)
    stage.open(gate)
    #expect(obituaries.allSatisfy { $0.isDead })
  }

  @Test("a mailbox with a limit goes on with the latest, and a new limit holds for what waits")
  func limits() {
    let policies: [DelegateHub.MailboxPolicy?] = [nil, .latest, .dropOldest(limit: 3), .unbounded]
    for policy in policies {
      for newer in policies {
        let (stage, gate, probe) = (Stage(), Gate(), Probe())
        stage.hub.subscribe(probe, to: Listener.self, mailbox: policy)
        stage.hub[Listener.self].notify { _ in await gate.pass() }
        for number in 1...9 { stage.hub[Listener.self].notify { $0.log.record(number) } }
        stage.run()
        stage.hub.subscribe(probe, to: Listener.self, mailbox: newer)
        for number in 10...11 { stage.hub[Listener.self].notify { $0.log.record(number) } }
        stage.run()
        func limited(_ numbers: [Int], _ policy: DelegateHub.MailboxPolicy?) -> [Int] {
          numbers.suffix(policy?.limit ?? .max)
        }
        // Before anything has begun the first one counts as well.
        let all = limited(limited(Array(0...9), policy).filter { $0 > 0 }, newer ?? policy) + [10, 11]
        stage.open(gate)
        let expected = limited(all, newer ?? policy)
        #expect(probe.log.history == expected, "\(policy, default: "none"), \(newer, default: "none")")
        #expect(stage.accounts?.dropped == 11 - expected.count)
      }
    }
    #expect("\(DelegateHub.MailboxPolicy.dropOldest(limit: 1)) \(DelegateHub.MailboxPolicy.unbounded)" == "latest unbounded")
  }

  #if canImport(Dispatch)
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

    @Test("a dispatch queue runs tasks, handlers and an actor, which is isolated there and nowhere else")
    func dispatchQueue() async {
      let executor = DispatchQueueExecutor(MarkedQueue.make("home"))
      let tenant = Tenant(on: executor)
      let places = await withTaskGroup { group in
        for number in 0..<100 {
          group.addTask(executorPreference: number % 2 == 0 ? executor : nil) { await tenant.visit() }
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

    @Test("a handler on a busy queue takes one job of it, and calls what is isolated to none in place")
    func oneJob() async {
      let queue = MarkedQueue.make("busy")
      let (hub, probe, jobs) = (DelegateHub(), Probe(), Count())
      hub.subscribe(probe, to: Listener.self, on: DispatchQueueExecutor(queue))
      let places = await hub[Listener.self].ask(combining: .all()) { _ in
        // What comes to the queue while the handler runs would run between two of its jobs.
        queue.async { jobs.add(1) }
        let places = [MarkedQueue.current, await Self.nonisolatedPlace(), MarkedQueue.current]
        return places + ["\(jobs.value)"]
      }
      #expect(places == [["busy", "busy", "busy", "0"]])
      withExtendedLifetime(probe) {}
    }

    @concurrent private static func nonisolatedPlace() async -> String { MarkedQueue.current }
  #endif
}

import Synchronization
import Testing

@testable import Delegation

@Suite("FanOut: what workers claim, cost and leave behind", .inTurn(.heavy))
struct FanOutTests {
  /// Subscriptions that nobody ever calls.
  private final class Cast {
    let inbox = Inbox()
    let subscribers: [Nobody]
    let nodes: [SubscriptionNode]

    init(_ count: Int) {
      subscribers = (0..<count).map { _ in Nobody() }
      nodes = subscribers.map { [inbox] in Structures.subscribe($0, in: inbox) }
    }

    deinit {
      inbox.clear()
    }
  }

  private func fanOut(_ nodes: [SubscriptionNode], for hub: DelegateHub = DelegateHub()) -> FanOut {
    FanOut(asking: nodes, for: hub, in: .ask) { _, _, _, _ in nil }
  }

  @Test("every position is claimed once, in order, and none after the last or after a halt")
  func claims() {
    let cast = Cast(3)
    let whole = fanOut(cast.nodes)
    #expect((0..<5).map { _ in whole.claim()?.position } == [0, 1, 2, nil, nil])
    let halted = fanOut(cast.nodes)
    #expect(halted.unclaimed == 3)
    #expect(halted.claim()?.position == 0)
    #expect(halted.unclaimed == 2)
    halted.halt()
    #expect(halted.unclaimed == 0)
    #expect(halted.claim() == nil)
    #expect(fanOut([]).claim() == nil)
  }

  @Test("one that has not answered is late, unless it has ended before its handler began")
  func isLate() throws {
    let cast = Cast(4)
    let fanOut = fanOut(cast.nodes)
    let first = try #require(fanOut.claim())
    let elsewhere = try #require(fanOut.claim())
    fanOut.cursor.withLock { $0.sendToExecutor(elsewhere) }
    #expect((0..<4).map(fanOut.isLate) == [true, true, true, true])
    for index in 0..<3 { cast.nodes[index].terminate(as: .cancelled) }
    #expect((0..<4).map(fanOut.isLate) == [true, false, false, true])
    #expect(fanOut.cursor.withLock { $0.beginOnExecutor(1) })
    #expect((0..<4).map(fanOut.isLate) == [true, true, false, true])
    withExtendedLifetime(first) {}
  }

  @Test("one that does not conform is not late before its handler has begun")
  func isLateOfThoseThatConform() {
    let cast = Cast(2)
    let narrowings = [
      Narrowing(to: (any Listener).self, within: nil), Narrowing(to: Nobody.self, within: nil),
    ]
    let late = narrowings.map { narrowing in
      let fanOut = FanOut(
        asking: cast.nodes, conformingTo: narrowing, for: DelegateHub(), in: .ask
      ) { _, _, _, _ in nil }
      if let first = fanOut.claim() { fanOut.cursor.withLock { $0.sendToExecutor(first) } }
      return (0..<2).map(fanOut.isLate)
    }
    #expect(late == [[false, false], [true, true]])
  }

  @Test("threads that meet at the last position do not both get one")
  func race() {
    let cast = Cast(1)
    let hub = DelegateHub()
    let number = rounds(20_000)
    let nodes = cast.nodes
    let fanOut = fanOut(nodes, for: hub)
    let claims = Recorder<[Int?]>()
    let meeting = Meeting(of: 2)
    Threads.run(2) { thread in
      var own: [Int?] = []
      for round in number {
        guard meeting.await(2 * round) else { break }
        // The one who came last is ahead by some steps: each waits for that many in turn.
        if round % 2 == thread {
          for _ in 0..<(round / 2 % 30) { _ = fanOut.unclaimed }
        }
        own.append(fanOut.claim()?.position)
        guard meeting.await(2 * round + 1) else { break }
        if thread == 0 { fanOut.cursor.withLock { $0 = Cursor(nodes) } }
      }
      claims.record(own)
    }
    let pairs = zip(claims.history[0], claims.history[1])
    #expect(!claims.history[0].isEmpty)
    #expect(pairs.count { Set([$0, $1]) != [0, nil] } == 0)
    withExtendedLifetime(cast) {}
  }

  @Test("a worker leaves the running tasks when it is done, wherever it worked")
  func runningTasks() {
    let executor = ManualExecutor()
    let cast = Cast(3)
    let own = ManualExecutor()
    let subscriber = Nobody()
    let elsewhere = Structures.subscribe(subscriber, in: cast.inbox, on: own)
    let asked = Recorder<ObjectIdentifier>()
    let poll = Poll(Ballot<Unanimous, Never>(asking: 4, combiner: .unanimous))
    let fanOut = FanOut(
      asking: cast.nodes + [elsewhere], for: DelegateHub(on: executor), in: .ask
    ) { fanOut, worker, first, isSingle in
      await fanOut.run(from: first, as: worker, only: isSingle, to: poll) { node in
        #expect(fanOut.runningTasks.state.withLock { !$0.atWork.isEmpty })
        asked.record(ObjectIdentifier(node))
        return .absence
      }
    }
    fanOut.requestWorker()
    executor.run()
    own.run()
    #expect(asked.history.count == 4)
    #expect(Set(asked.history) == Set((cast.nodes + [elsewhere]).map { ObjectIdentifier($0) }))
    #expect(fanOut.runningTasks.state.withLock { $0.atWork.isEmpty })
    #expect(fanOut.workplace.activity.workers.value == 0)
  }

  @Test("a worker does not end as long as somebody uses the handle of its task")
  func usedHandle() {
    let executor = ManualExecutor()
    let cast = Cast(1)
    let poll = Poll(Ballot<Unanimous, Never>(asking: 1, combiner: .unanimous))
    let fanOut = FanOut(asking: cast.nodes, for: DelegateHub(on: executor), in: .ask) {
      fanOut, worker, first, isSingle in
      await fanOut.run(from: first, as: worker, only: isSingle, to: poll) { _ in
        let members = fanOut.runningTasks.beginUse { $0.atWork }
        #expect(members.count == 1)
        return .absence
      }
    }
    fanOut.requestWorker()
    executor.run()
    #expect(fanOut.workplace.activity.workers.value == 1)
    fanOut.runningTasks.endUse()
    executor.run()
    #expect(fanOut.workplace.activity.workers.value == 0)
  }

  @Test("nothing keeps it when all have been asked on executors of their own")
  func released() throws {
    let (executor, own) = (ManualExecutor(), ManualExecutor())
    let inbox = Inbox()
    defer { inbox.clear() }
    let subscribers = (0..<2).map { _ in Nobody() }
    let nodes = subscribers.map { Structures.subscribe($0, in: inbox, on: own) }
    let poll = Poll(Ballot<Unanimous, Never>(asking: 2, combiner: .unanimous))
    var fanOut: FanOut? = FanOut(asking: nodes, for: DelegateHub(on: executor), in: .ask) {
      fanOut, worker, first, isSingle in
      await fanOut.run(from: first, as: worker, only: isSingle, to: poll) { _ in .absence }
    }
    let obituary = try #require(fanOut.map(Obituary.init(of:)))
    fanOut?.requestWorker()
    fanOut = nil
    executor.run()
    own.run()
    executor.run()
    let isDecided = poll.takeDecision() != nil
    #expect(isDecided)
    #expect(obituary.isDead)
  }

  @Test("no more tasks than one for each that suspends, and one that finds nothing left")
  func tasks() {
    for count in 1...4 {
      for suspended in 0...count {
        let stage = Stage()
        let probes = stage.cast(count)
        // What is asked for by the first posting is not counted.
        stage.hub.notify(Listener.self) { _ in }
        stage.run()
        let gate = Gate()
        let most = Lock(0)
        stage.hub.notify(Listener.self) { [hub = stage.hub] probe in
          most.withLock { $0 = max($0, hub.inbox.activity.workers.value) }
          if let number = Int(probe.name), number < suspended { await gate.pass() }
        }
        stage.run()
        let usual = min(suspended + 2, count)
        #expect(most.withLock { $0 } <= max(1, usual), "\(suspended) of \(count) suspended")
        #expect(stage.hub.inbox.activity.workers.value == suspended)
        stage.open(gate)
        withExtendedLifetime(probes) {}
      }
    }
  }

  @Test("those who answer at once, in the caller's place, cost no further task")
  func inPlace() {
    let cast = Cast(3)
    let hub = DelegateHub()
    for _ in 0..<200 {
      let poll = Poll(Ballot<Unanimous, Never>(asking: 3, combiner: .unanimous))
      let fanOut = FanOut(asking: cast.nodes, for: hub, in: .ask) {
        fanOut, worker, first, isSingle in
        await fanOut.run(from: first, as: worker, only: isSingle, to: poll) { _ in .absence }
      }
      fanOut.startInPlace()
      #expect(hub.inbox.activity.workers.value == 0)
    }
  }

  @Test("the only one who is asked is asked in the caller's own task", arguments: Reach.asking)
  func alone(reach: Reach) async {
    let hub = DelegateHub()
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    let task = withUnsafeCurrentTask { $0?.hashValue }
    let tasks = Recorder<Int?>()
    await reach(hub, suspending: false) { _ in
      tasks.record(withUnsafeCurrentTask { $0?.hashValue })
    }
    // With a deadline it is not: a handler that blocks its thread must not keep the caller.
    let isCallers = ![.voteWithin, .askWithin, .collectWithin].contains(reach)
    #expect(tasks.history.map { $0 == task } == [isCallers])
    withExtendedLifetime(probe) {}
  }

  @Test("those asked in turn are waited for, wherever they run", arguments: [false, true])
  func inTurn(hasExecutor: Bool) async {
    let pool = ThreadPool(threads: 1)
    let hub = hasExecutor ? DelegateHub(on: ThreadPool(threads: 1)) : DelegateHub()
    let probes = Probe.many(3)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "1" ? pool : nil)
    }
    let names = await hub.pass([String](), through: Listener.self) { probe, names in
      await Task.yield()
      return names + [probe.name]
    }
    #expect(names == ["0", "1", "2"])
    let first = await hub.askInTurn(Listener.self) { $0.name == "1" ? $0.name : nil }
    #expect(first == "1")
  }
}

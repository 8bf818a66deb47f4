import Testing

@testable import Delegation

@Suite("Round: what workers claim, cost and leave behind", .inTurn)
struct RoundTests {
  private func round(_ nodes: [SubscriptionNode], for hub: DelegateHub = DelegateHub()) -> Round {
    Round(asking: nodes, for: hub, in: .ask) { _, _, _ in nil }
  }

  private func begunPoll(asking count: Int) -> Poll<Ballot<BooleanRule, Never>> {
    let poll = Poll(Ballot<BooleanRule, Never>(asking: count, combiner: .unanimous))
    #expect(poll.ballot.begin() == nil)
    return poll
  }

  @Test("every position is claimed once, in order, and none after the last or after the end")
  func claims() {
    let cast = Cast(3)
    let whole = round(cast.nodes)
    #expect((0..<5).map { _ in whole.claim()?.position } == [0, 1, 2, nil, nil])
    let ended = round(cast.nodes)
    #expect(ended.state.withLock { $0.cursor.unclaimed } == 3)
    #expect(ended.claim()?.position == 0)
    #expect(ended.state.withLock { $0.cursor.unclaimed } == 2)
    ended.end(cancelling: false, except: nil)
    #expect(ended.state.withLock { $0.cursor.unclaimed } == 0)
    #expect(ended.claim() == nil)
    #expect(!ended.isCancelled)
    #expect(round([]).claim() == nil)
  }

  @Test("when the caller goes on, a handler that begins finds itself cancelled")
  func cancelledBeforeTheCallerGoesOn() async {
    let round = round(Cast(2).nodes)
    let caller = Task(executorPreference: PromptExecutor()) {
      await round.waitForDecision()
      return round.isCancelled
    }
    while round.state.withLock({ $0.poll.waiting == nil }) { await Task.yield() }
    round.end(cancelling: true, except: nil)
    #expect(await caller.value)
  }

  @Test("one that has not answered is late, unless it has ended before its handler began")
  func isLate() throws {
    let cast = Cast(4)
    let round = round(cast.nodes)
    let first = try #require(round.claim())
    let elsewhere = try #require(round.claim())
    round.state.withLock { $0.cursor.send(elsewhere) }
    func late() -> [Bool] {
      (0..<4).map { round.isLate(cast.nodes[$0], at: $0, notingSince: nil) }
    }
    #expect(late() == [true, true, true, true])
    for index in 0..<3 { cast.nodes[index].terminate(as: .cancelled) }
    #expect(late() == [true, false, false, true])
    // It has settled that none begins any more.
    #expect(!round.state.withLock { state in state.cursor.beginSent(1) })
    #expect(round.claim() == nil)
    withExtendedLifetime(first) {}
  }

  @Test("one that does not conform is not late before its handler has begun")
  func isLateOfThoseThatConform() {
    let cast = Cast(2)
    let narrowings = [
      Narrowing(to: (any Listener).self, within: nil), Narrowing(to: Nobody.self, within: nil),
    ]
    let late = narrowings.map { narrowing in
      let round = Round(
        asking: cast.nodes, conformingTo: narrowing, for: DelegateHub(), in: .ask
      ) { _, _, _ in nil }
      if let first = round.claim() { round.state.withLock { $0.cursor.send(first) } }
      return (0..<2).map { round.isLate(cast.nodes[$0], at: $0, notingSince: nil) }
    }
    #expect(late == [[false, false], [true, true]])
  }

  @Test("a worker leaves the tasks when it is done, wherever it worked")
  func workers() {
    let (executor, own) = (ManualExecutor(), ManualExecutor())
    let cast = Cast(3)
    let subscriber = Nobody()
    let elsewhere = Structures.subscribe(subscriber, in: cast.board, on: own)
    let asked = Recorder<ObjectIdentifier>()
    let poll = begunPoll(asking: 4)
    let round = Round(
      asking: cast.nodes + [elsewhere], for: DelegateHub(on: executor), in: .ask
    ) { round, worker, first in
      await round.run(
        from: first, as: worker, counting: { poll.take($0, from: $1, by: worker, in: round) }
      ) { node in
        #expect(!round.tasks.isEmpty)
        asked.record(ObjectIdentifier(node))
        return .absence
      }
    }
    round.requestWorker()
    executor.run()
    own.run()
    #expect(asked.history.count == 4)
    #expect(Set(asked.history) == Set((cast.nodes + [elsewhere]).map { ObjectIdentifier($0) }))
    #expect(round.tasks.isEmpty)
    #expect(round.activity.workers.value == 0)
  }

  @Test("voters after one in the caller's place see that the round was cancelled meanwhile")
  func cancelledInPlace() {
    let cast = Cast(2)
    let seen = Recorder<Bool>()
    let poll = begunPoll(asking: 2)
    let round = Round(asking: cast.nodes, for: DelegateHub(), in: .ask) {
      round, worker, first in
      await round.run(
        from: first, as: worker, counting: { poll.take($0, from: $1, by: worker, in: round) }
      ) { _ in
        seen.record(Task.isCancelled)
        round.cancel(inPlace: true)
        seen.record(Task.isCancelled)
        return .absence
      }
    }
    let isDecided = round.start()
    #expect(isDecided)
    #expect(seen.history == [false, false, true, true])
    #expect(round.tasks.isEmpty)
  }

  @Test("voters after one in the caller's place see that the caller was cancelled meanwhile")
  func callerCancelledInPlace() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let seen = Recorder<Bool>()
    let gate = Gate()
    let task = Lock<Task<Void, Never>?>(nil)
    let caller = Task {
      await gate.pass()
      _ = await hub[Listener.self].collect() { _ async in
        seen.record(Task.isCancelled)
        task.withLock { $0 }?.cancel()
      }
    }
    task.withLock { $0 = caller }
    gate.open()
    await caller.value
    #expect(seen.history == [false, true, true])
    withExtendedLifetime(probes) {}
  }

  @Test("nobody keeps the caller's task once the first worker has suspended: it may end then")
  func callersTask() async throws {
    let cast = Cast(1)
    let gate = Gate()
    let obituaries = Lock<[Obituary]>([])
    let poll = begunPoll(asking: 1)
    // The handler's frame is not to keep it.
    @Sendable func note(_ round: Round) {
      guard let callersTask = round.state.withLock({ $0.callersTask }) else { return }
      obituaries.withLock { $0.append(Obituary(of: callersTask)) }
    }
    let round = Round(asking: cast.nodes, for: DelegateHub(), in: .ask) {
      round, worker, first in
      await round.run(
        from: first, as: worker, counting: { poll.take($0, from: $1, by: worker, in: round) }
      ) { _ in
        note(round)
        await gate.pass()
        return .absence
      }
    }
    #expect(!round.start())
    #expect(obituaries.withLock { $0.map(\.isDead) } == [true])
    gate.open()
    await round.waitForDecision()
    #expect(round.isDecided)
  }

  @Test("nothing keeps it when all have been asked on executors of their own")
  func released() throws {
    let (executor, own) = (ManualExecutor(), ManualExecutor())
    let board = Switchboard()
    defer { board.clear() }
    let subscribers = (0..<2).map { _ in Nobody() }
    let nodes = subscribers.map { Structures.subscribe($0, in: board, on: own) }
    let poll = begunPoll(asking: 2)
    var round: Round? = Round(asking: nodes, for: DelegateHub(on: executor), in: .ask) {
      round, worker, first in
      await round.run(
        from: first, as: worker, counting: { poll.take($0, from: $1, by: worker, in: round) }
      ) { _ in .absence }
    }
    let obituary = try #require(round.map(Obituary.init(of:)))
    round?.requestWorker()
    round = nil
    executor.run()
    own.run()
    executor.run()
    let isDecided = !poll.outcome.isEmpty
    #expect(isDecided)
    #expect(obituary.isDead)
  }

  @Test("those who answer at once, in the caller's place, cost no further task")
  func inPlace() {
    let cast = Cast(3)
    let hub = DelegateHub()
    for _ in 0..<200 {
      let poll = begunPoll(asking: 3)
      let round = Round(asking: cast.nodes, for: hub, in: .ask) {
        round, worker, first in
        await round.run(
          from: first, as: worker, counting: { poll.take($0, from: $1, by: worker, in: round) }
        ) { _ in .absence }
      }
      let isDecided = round.start()
      #expect(isDecided)
      #expect(hub.activity.workers.value == 0)
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

  @Test("so are those who are asked with a closure that awaits nothing")
  func awaitsNothing() async {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let task = withUnsafeCurrentTask { $0?.hashValue }
    let isCallers = await hub[Listener.self].ask(combining: .all()) { _ in
      withUnsafeCurrentTask { $0?.hashValue } == task
    }
    #expect(isCallers == [true, true, true])
    withExtendedLifetime(probes) {}
  }

  @Test("a caller that is cancelled after the end reaches those that still run, in its own place")
  func cancelledAfterTheEnd() {
    // On it nothing runs: what is not done in place is not done.
    let stuck = ManualExecutor()
    let round = Round(asking: [], for: DelegateHub(on: stuck), in: .vote) { _, _, _ in nil }
    let straggler = Task<Void, any Error>(executorPreference: stuck) {}
    _ = round.state.withLock { $0.workers.keep(straggler, at: WorkerTasks.firstPlace) }
    round.end(cancelling: true, except: nil)
    #expect(!straggler.isCancelled)
    round.cancel(inPlace: true)
    #expect(straggler.isCancelled)
    stuck.run()
  }

  @Test("a worker whose task becomes known after that is cancelled in place as well")
  func keptLate() {
    let stuck = ManualExecutor()
    let round = Round(asking: [], for: DelegateHub(on: stuck), in: .vote) { _, _, _ in nil }
    round.cancel(inPlace: true)
    round.requestWorker()
    #expect(round.tasks.map(\.isCancelled) == [true])
    stuck.run()
  }

  @Test("after a decision it is not: the caller may be the one who starts it")
  func keptAfterTheEnd() {
    let stuck = ManualExecutor()
    let round = Round(asking: [], for: DelegateHub(on: stuck), in: .vote) { _, _, _ in nil }
    round.end(cancelling: true, except: nil)
    round.requestWorker()
    #expect(round.tasks.map(\.isCancelled) == [false])
    stuck.run()
  }

  @Test("a worker whose task becomes known after the caller was raised is raised as well")
  func raisedLate() {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (executor, gate, cast) = (ManualExecutor(), Gate(), Cast(1))
    let seen = Recorder<TaskPriority>()
    let round = Round(asking: cast.nodes, for: DelegateHub(on: executor), in: .vote) { _, _, _ in
      await gate.pass()
      seen.record(Task.currentPriority)
      return nil
    }
    round.escalate(to: .high)
    round.requestWorker()
    executor.run()
    gate.open()
    executor.run()
    #expect(seen.history == [.high])
  }

  @Test("those asked in turn are waited for, wherever they run", arguments: [false, true])
  func inTurn(hasExecutor: Bool) async {
    let pool = ThreadPool(threads: 1)
    let hub = hasExecutor ? DelegateHub(on: ThreadPool(threads: 1)) : DelegateHub()
    let probes = Probe.many(3)
    for probe in probes {
      hub.subscribe(probe, to: Listener.self, on: probe.name == "1" ? pool : nil)
    }
    let names = await hub[Listener.self].pass([String]()) { probe, names in
      await Task.yield()
      return names + [probe.name]
    }
    #expect(names == ["0", "1", "2"])
    let first = await hub[Listener.self].askInTurn() { $0.name == "1" ? $0.name : nil }
    #expect(first == "1")
  }
}

extension Round {
  /// The tasks of its workers, as far as they are known.
  fileprivate var tasks: [Task<Void, any Error>] {
    var workers = state.withLock { $0.workers }
    return workers.cancel(except: nil, inPlace: false)
  }
}

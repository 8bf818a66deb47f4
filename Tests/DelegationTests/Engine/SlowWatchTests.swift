import Testing

@testable import Delegation

@Suite("SlowWatch: whom it reports, and when it stops")
struct SlowWatchTests {
  private let board: Switchboard
  private let subscribers = [Nobody(), Nobody(), Nobody()]
  private let nodes: [SubscriptionNode]
  private let executor = ManualExecutor()
  private let clock = FickleClock()
  private let reported: Recorder<ObjectIdentifier>
  private let deadlines: DeadlineQueue
  private let watch: SlowWatch

  init() {
    let reported = Recorder<ObjectIdentifier>()
    self.reported = reported
    board = Switchboard { reported.record(ObjectIdentifier($0.subscription.node)) }
    nodes = subscribers.map { [board] in Structures.subscribe($0, in: board) }
    deadlines = DeadlineQueue(clock: clock, executor: executor)
    watch = SlowWatch(after: .seconds(1), by: deadlines)
  }

  private func pass(_ seconds: Int) {
    clock.sound.advance(by: .seconds(seconds))
    executor.run()
  }

  @Test("all that ran during the whole of its sleep are reported, in the order in which they began")
  func together() {
    defer { board.clear() }
    let tickets = nodes.reversed().map { watch.begin($0, in: .vote) }
    executor.run()
    pass(1)
    #expect(reported.history == nodes.reversed().map { ObjectIdentifier($0) })
    for ticket in tickets { watch.end(ticket) }
    pass(1)
    #expect(clock.sound.sleepers == 0)
  }

  @Test("one that has ended is not reported, whoever else goes on")
  func ended() {
    defer { board.clear() }
    let tickets = nodes.map { watch.begin($0, in: .vote) }
    executor.run()
    watch.end(tickets[1])
    pass(1)
    #expect(reported.history == [ObjectIdentifier(nodes[0]), ObjectIdentifier(nodes[2])])
  }

  @Test("there is one watch for all, and another when handlers run again after a rest")
  func oneForAll() {
    defer { board.clear() }
    for round in 1...3 {
      let tickets = nodes.map { watch.begin($0, in: .vote) }
      executor.run()
      #expect(clock.sound.sleepers == 1, "round \(round)")
      #expect(deadlines.pending == 1, "round \(round)")
      for ticket in tickets { watch.end(ticket) }
      pass(1)
      #expect(clock.sound.sleepers == 0)
      #expect(executor.pending == 0)
    }
    #expect(reported.history == [])
  }

  @Test("with a clock that fails it gives up until another handler begins")
  func failingClock() {
    defer { board.clear() }
    clock.isBroken.withLock { $0 = true }
    let first = watch.begin(nodes[0], in: .vote)
    executor.run()
    #expect(clock.sound.sleepers == 0)
    clock.isBroken.withLock { $0 = false }
    let second = watch.begin(nodes[1], in: .vote)
    executor.run()
    #expect(clock.sound.sleepers == 1)
    pass(1)
    #expect(reported.history == [ObjectIdentifier(nodes[0]), ObjectIdentifier(nodes[1])])
    watch.end(first)
    watch.end(second)
  }

  @Test("one that is refused, as its subscription has ended, is not watched")
  func refused() async {
    defer { board.clear() }
    nodes[0].terminate(as: .cancelled)
    let worker = Worker(activity: board.activity, caller: nil)
    let isAsked = await worker.ask(nodes[0], in: .vote, watchedBy: watch, absence: false) { _ in
      true
    }
    #expect(!isAsked)
    executor.run()
    #expect(clock.sound.sleepers == 0)
    pass(1)
    #expect(reported.history == [])
  }
}

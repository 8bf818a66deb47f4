import Delegation
import DelegationTesting
import Foundation
import Synchronization
import Testing

protocol Numbered: AnyObject, Sendable {
  func call() -> Int
  func ask() async -> Int
}

final class NumberedMember: Numbered {
  let number: Int
  private let first: @Sendable () -> Void

  init(_ number: Int, first: @escaping @Sendable () -> Void = {}) {
    self.number = number
    self.first = first
  }

  func call() -> Int {
    first()
    return number
  }

  func ask() async -> Int {
    first()
    if number % 3 == 0 { await Task.yield() }
    return number
  }
}

@Suite("Calls follow a replacement", .inTurn(.heavy))
struct ReplacementCallTests {
  /// One way to ask all, which says who was called.
  struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let perform: @Sendable (Delegates<any Numbered>) async -> [Int]
  }

  static let calls: [Call] = [
    Call(testDescription: "forEach") { delegates in
      var heard: [Int] = []
      delegates.forEach { heard.append($0.call()) }
      return heard
    },
    Call(testDescription: "forEach, awaiting") { delegates in
      var heard: [Int] = []
      await delegates.forEach { heard.append(await $0.ask()) }
      return heard
    },
    Call(testDescription: "ask, in a loop") { await $0.ask(combining: .all()) { $0.call() } },
    Call(testDescription: "ask, awaiting") { await $0.ask(combining: .all()) { await $0.ask() } },
    Call(testDescription: "collect, with a deadline") { delegates in
      await delegates.collect(within: .seconds(600)) { await $0.ask() }.compactMap {
        try? $0.result.get()
      }
    },
    Call(testDescription: "askInTurn") { delegates in
      let heard = Mutex<[Int]>([])
      _ = await delegates.askInTurn { (member: any Numbered) -> Int? in
        let number = await member.ask()
        heard.withLock { $0.append(number) }
        return nil
      }
      return heard.withLock { $0 }
    },
  ]

  @Test("storm: while a place is taken over, each call finds one there", arguments: calls)
  func storm(call: Call) async {
    let delegates = Delegates<any Numbered>()
    let others = (0..<3).map { NumberedMember(1_000_000 + $0) }
    let isOver = Count()
    let taking = Count()
    let first = NumberedMember(0)
    delegates.registry.subscribe(others[0])
    delegates.registry.subscribe(first, id: "place")
    delegates.registry.subscribe(others[1])
    var wrong: [[Int]] = []
    let ended = Gate()
    for thread in 0..<2 {
      Thread.detachNewThread { [registry = delegates.registry] in
        var present = first
        var number = thread + 1
        while isOver.value == 0 {
          let next = NumberedMember(number)
          registry.subscribe(next, id: "place")
          withExtendedLifetime(present) {}
          present = next
          number += 2
          taking.add(1)
          if number % 64 < 2 {
            // The list is to be merged, and sorted, again and again.
            registry.subscribe(others[2], priority: number % 128 < 2 ? 1 : -1)
            registry.unsubscribe(others[2])
          }
        }
        ended.arrive()
      }
    }
    while taking.value == 0 { await Task.yield() }
    for _ in races(3000) {
      let heard = await call.perform(delegates).filter { $0 < 1_000_000 }
      if heard.count != 1 { wrong.append(heard) }
    }
    isOver.add(1)
    await ended.arrivals(2)
    #expect(
      wrong.isEmpty,
      "\(wrong.count) of the calls: \(wrong.prefix(5)); taken over \(taking.value) times")
  }

  @Test("one that is replaced by id before its turn is followed, in all calls")
  func replacedBeforeItsTurn() async {
    for call in Self.calls {
      let delegates = Delegates<any Numbered>()
      let (first, heir, last) = (NumberedMember(1), NumberedMember(2), NumberedMember(4))
      let replacing = NumberedMember(0) { delegates.registry.subscribe(heir, id: "place") }
      delegates.registry.subscribe(replacing)
      delegates.registry.subscribe(first, id: "place")
      delegates.registry.subscribe(last)
      let heard = await call.perform(delegates)
      // With a deadline the second one may be asked while the first one is.
      let isKnown =
        heard == [0, 2, 4] || call.testDescription.hasSuffix("deadline") && heard == [0, 1, 4]
      #expect(isKnown, "\(call): \(heard)")
      withExtendedLifetime((first, heir, last)) {}
    }
  }

  @Test("an heir is asked on its own executor, and one that names none on that of the place")
  func executors() async {
    for (hasFirst, hasHeir) in [(true, false), (false, true), (true, true)] {
      let (one, other) = (MarkedQueue.make("first"), MarkedQueue.make("heir"))
      let delegates = Delegates<any Numbered>()
      let (first, heir, asker) = (NumberedMember(1), NumberedMember(2), NumberedMember(9))
      @Sendable func replace() {
        delegates.registry.subscribe(
          heir, id: "place", on: hasHeir ? DispatchQueueExecutor(other) : nil)
      }
      delegates.registry.subscribe(asker)
      delegates.registry.subscribe(
        first, id: "place", on: hasFirst ? DispatchQueueExecutor(one) : nil)
      let (places, isAsked) = (Recorder<String>(), Gate())
      one.suspend()
      let vote = Task {
        await delegates.ask(combining: .all()) { member in
          if member !== asker { places.record(MarkedQueue.current) }
          if member === asker, !hasFirst { replace() }
          if member === asker { isAsked.arrive() }
          return await member.ask()
        }
      }
      await isAsked.arrivals()
      if hasFirst { replace() }
      one.resume()
      #expect(await vote.value.sorted() == [2, 9])
      #expect(places.events == [hasHeir ? "heir" : "first"])
      withExtendedLifetime(first) {}
    }
  }

  @Test("at a deadline the heir of one that still runs is late; one that is only gone is not")
  func late() async {
    for isReplaced in [true, false] {
      let clock = ManualClock()
      let incidents = Recorder<DelegateHub.Incident>()
      let hub = DelegateHub {
        $0.clock = clock
        $0.onIncident = { incidents.record($0) }
      }
      let delegates = hub[(any Hearing).self]
      let (inside, gate) = (Gate(), Gate())
      let heir = Hearer { _ in Issue.record("it was not asked") }
      let hanging = Hearer { _ in
        inside.arrive()
        await gate.pass()
      }
      let token = hub.subscribe(hanging, to: (any Hearing).self, id: "gate")
      let ask: @Sendable (any Hearing) async throws -> Bool = {
        try await $0.hear(1)
        return true
      }
      let vote = Task {
        await delegates.vote(within: .seconds(1), absent: .counts(as: false), ask)
      }
      let replies = Task { await delegates.collect(within: .seconds(1), ask) }
      await inside.arrivals(2)
      var later: DelegateHub.Subscription?
      if isReplaced {
        later = hub.subscribe(heir, to: (any Hearing).self, id: "gate")
      } else {
        token.cancel()
      }
      await clock.waitForSleepers(2)
      clock.advance(by: .seconds(1))
      // A vote among nobody is true: who must not be missing is asked for by `ofAtLeast:`.
      #expect(await vote.value == !isReplaced)
      // The heir has the place, and is named, though it was not asked.
      #expect(await replies.value.map(\.subscription) == [later].compactMap(\.self))
      gate.open()
      await hub.drain()
      #expect(incidents.events.map(\.subscription) == (later.map { [$0, $0] } ?? []))
      #expect(incidents.events.allSatisfy { $0.kind == .late && $0.duration == nil })
      withExtendedLifetime((hanging, heir)) {}
    }
  }

  @Test("a place whose heir has ended as well is nobody's", arguments: Reach.asking)
  func endedHeir(reach: Reach) async {
    let (hub, returned, heard) = (DelegateHub(), Gate(), Recorder<String>())
    let (first, older, heir) = (Probe("first"), Probe("older"), Probe("heir"))
    hub.subscribe(first, to: Listener.self)
    hub.subscribe(older, to: Listener.self, id: "place")
    Task {
      await reach.call(hub) { probe in
        heard.record(probe.name)
        guard probe === first else { return }
        hub.subscribe(heir, to: Listener.self, id: "place")
        hub.unsubscribe(heir)
      }
      returned.arrive()
    }
    #expect(await returned.isReached)
    if reach == .askInTurn || reach == .pass { #expect(heard.events == ["first"]) }
    withExtendedLifetime((older, heir)) {}
  }

  @Test("who waits does not wait for the deinit of a replaced one", arguments: [false, true])
  func slowDeinit(isVote: Bool) async {
    let (hub, gate, blockade) = (DelegateHub(), Gate(), Blockade())
    let slow = Probe { blockade.enter() }
    hub.subscribe(consume slow, to: Listener.self, id: "place", hold: .strongly)
    hub.cast(1)
    let call = Task {
      if !isVote { return await hub.listeners.notifyAndWait { _ in await gate.pass() }.isHandled }
      return await hub.listeners.vote { _ in
        await gate.pass()
        return true
      }
    }
    await gate.arrivals(2)
    hub.subscribe(Probe(), to: Listener.self, id: "place", hold: .strongly)
    gate.open()
    #expect(await call.value)
    #expect(blockade.end())
    #expect(await hub.drain().isEmpty)
  }

  @Test("a drain covers a vote on one subscriber whose place goes to one with an executor")
  @MainActor
  func soleVoterReplaced() async {
    let (executor, own, events) = (ManualExecutor(), ManualExecutor(), Recorder<String>())
    let (hub, first, heir) = (DelegateHub(), Probe("first"), Probe("heir"))
    hub.subscribe(first, to: Listener.self, id: "place")
    // It waits for the main actor, which is here.
    let vote = executor.start {
      await hub[Listener.self].vote(absent: .abstains) { @MainActor in
        events.record($0.name)
        return true
      }
    }
    let drain = executor.start {
      await hub.drain()
      events.record("drained")
    }
    hub.subscribe(heir, to: Listener.self, id: "place", on: own)
    while own.pendingJobs == 0 {
      await Task.yield()
      executor.run()
    }
    #expect(events.history == [] && !drain.isOver)
    while !vote.isOver || !drain.isOver {
      own.run()
      await Task.yield()
      executor.run()
    }
    #expect(events.history == ["heir", "drained"])
    withExtendedLifetime((first, heir)) {}
  }

  @Test("one that is given an executor by its own handler is not asked again")
  func movedMeanwhile() async {
    let (hub, queue) = (DelegateHub(), MarkedQueue.make("own"))
    let places = Recorder<String>()
    hub.cast(2)
    for _ in 0..<2 {
      let value = await hub[Listener.self].pass(0) { probe, value in
        places.record(MarkedQueue.current)
        hub.subscribe(probe, to: Listener.self, on: DispatchQueueExecutor(queue))
        return value + 1
      }
      #expect(value == 2)
    }
    #expect(places.history == ["elsewhere", "elsewhere", "own", "own"])
  }
}

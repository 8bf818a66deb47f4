import DelegationTesting
import Testing

@testable import Delegation

/// On stages: what waits for ever only has no result.
@Suite("Streams: what loops have in hand, and who waits for that", .inTurn)
struct LoopTests {
  enum Wait: CaseIterable {
    case drain, delayed, post, cancelFirst, cancelSecond, secondAlone, asked
  }

  @Test("a task waits for none of the events that its loops have in hand", arguments: Wait.allCases)
  func several(wait: Wait) {
    let (stage, probe) = (Stage(), Probe("voter"))
    stage.hub.subscribe(probe, to: Listener.self)
    let taken = stage.perform { hub in
      let (one, other) = (Events<Int>(of: hub), Events<String>(of: hub))
      let (numbers, names) = (one.registry.stream(), other.registry.stream())
      one.post(1)
      one.post(2)
      other.post("a")
      var first = numbers.makeAsyncIterator()
      var second = names.makeAsyncIterator()
      let taken = [await first.next(), await first.next()]
      let name =
        wait == .delayed
        ? await hub.delayingDrain { await second.next(isolation: #isolation) }
        : await second.next()
      switch wait {
      case .drain, .delayed: await hub.drain()
      case .post: await one.notifyAndWait { try await $0.receive(3) }
      case .cancelFirst: await numbers.subscription.cancelAndWait()
      case .cancelSecond: await names.subscription.cancelAndWait()
      case .secondAlone:
        numbers.subscription.cancel()
        _ = await first.next()
        await hub.drain()
      case .asked:
        _ = await hub[Listener.self].vote { _ in
          await hub.drain()
          return true
        }
      }
      withExtendedLifetime((first, second)) {}
      return name == "a" ? taken : []
    }
    #expect(taken == [1, 2])
    withExtendedLifetime(probe) {}
  }

  @Test("of two loops in one task each is told of its own stream, and ends with that alone")
  func turnByTurn() async {
    let seen = Recorder<String>()
    let hook = Hook { call, next in
      seen.record(call.id as? String ?? "")
      return await next()
    }
    let hub = DelegateHub(.init(interceptors: [hook]))
    let (one, other) = (Events<Int>(of: hub), Events<String>(of: hub))
    let (numbers, names) = (one.registry.stream(id: "one"), other.registry.stream(id: "other"))
    var (first, second) = (numbers.makeAsyncIterator(), names.makeAsyncIterator())
    for number in 0..<3 {
      one.post(number)
      other.post("\(number)")
      #expect(await first.next() == number)
      #expect(await second.next() == "\(number)")
    }
    #expect(seen.history == ["one", "other", "one", "other", "one", "other"])
    names.subscription.cancel()
    one.post(3)
    #expect(await first.next() == 3 && numbers.subscription.isActive)
    withExtendedLifetime(second) {}
  }

  @Test("an event that was taken in a task or a handler that has ended is in no other one's hand")
  func ended() {
    let stage = Stage()
    let (events, other) = (Events<Int>(of: stage.hub), Events<String>(of: stage.hub))
    let kept = Kept(events.registry.stream())
    for inHandler in [false, true] {
      events.post(1)
      var waiting: [() -> Bool] = []
      if inHandler {
        let done = Recorder<Bool>()
        other.registry.observe { [hub = stage.hub] in
          if $0 == "take" { _ = await kept.next() } else { done.record(await hub.drain().isEmpty) }
        }
        other.post("take")
        other.post("drain")
        stage.run()
        waiting.append { done.history.isEmpty }
      } else {
        #expect(stage.perform { _ in await kept.next() } == 1)
        // The address of the task that has ended is one of theirs.
        for _ in 0..<64 {
          let drain = stage.start { await $0.drain() }
          waiting.append { drain.result == nil }
        }
      }
      #expect(waiting.allSatisfy { $0() })
      kept.putDown()
      stage.run()
      #expect(!waiting.contains { $0() })
    }
  }

  @Test("a wait keeps its deadline though the hub is gone")
  func hubGone() async {
    var events: Events<Int>? = Events<Int>()
    weak let hub = events?.hub
    guard let stream = events?.registry.stream() else { return }
    events?.post(1)
    var iterator = stream.makeAsyncIterator()
    #expect(await iterator.next() == 1)
    events = nil
    while hub != nil { await Task.yield() }
    let left = Task.detached { await stream.subscription.cancelAndWait(within: .milliseconds(1)) }
    #expect(await left.value.subscribers.map(\.running) == [1])
    #expect(await stream.next(within: .seconds(600)) == nil)
    withExtendedLifetime(iterator) {}
  }

  @Test("no more than the limit is said to wait, however fast others post, and however it ends")
  func limit() {
    let events = Events<Int>()
    let stream = events.registry.stream(mailbox: .latest)
    let finished = Count()
    Threads.run(2) { thread in
      if thread == 0 {
        for number in 0..<20_000 { events.post(number) }
        finished.add(1)
      } else {
        while finished.value == 0 {
          let waiting = stream.subscription.statistics.counts.waiting
          #expect(0...1 ~= waiting)
          if waiting > 1 { return }
        }
      }
    }
    stream.subscription.finish()
    for number in 0..<5 { events.post(number) }
    // What comes later waits for a replacement, and pushes nothing out.
    #expect(stream.subscription.statistics.counts.waiting == 6)
    stream.subscription.cancel()
    let counts = stream.subscription.statistics.counts
    #expect(counts.cancelled == 6 && counts.addressed == 20_005)
  }
}

/// An iterator that several tasks use, one after another.
private final class Kept: @unchecked Sendable {
  private let stream: EventStream<Int>
  private var iterator: EventStream<Int>.Iterator?

  init(_ stream: EventStream<Int>) {
    self.stream = stream
    iterator = stream.makeAsyncIterator()
  }

  func next() async -> Int? { await iterator?.next() }

  func putDown() { iterator = stream.makeAsyncIterator() }
}

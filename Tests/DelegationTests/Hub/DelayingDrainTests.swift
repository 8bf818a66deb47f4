import Testing

@testable import Delegation

@Suite("delayingDrain", .inTurn)
struct DelayingDrainTests {
  private let stage = Stage()

  @Test("drain waits for the body's end")
  func waits() {
    let gate = Gate()
    let body = stage.start { hub in await hub.delayingDrain { await gate.pass() } }
    let drain = stage.start { hub in await hub.drain() }
    #expect(drain.result == nil)
    stage.open(gate)
    #expect(drain.result?.isEmpty == true)
    #expect(body.result != nil)
  }

  @Test("a drain whose time is up says that something delays it")
  func leftovers() throws {
    let gate = Gate()
    _ = stage.start { hub in await hub.delayingDrain { await gate.pass() } }
    let drain = stage.start { hub in await hub.drain(within: .seconds(1)) }
    stage.advance(by: .seconds(1))
    let left = try #require(drain.result)
    #expect(!left.isEmpty)
    #expect(left.subscribers.isEmpty)
    #expect(left.delays == 1)
    #expect("\(left)" == "delaying the drain: 1")
    stage.open(gate)
    #expect(stage.perform { hub in await hub.drain() }?.delays == 0)
  }

  @Test("a body that has ended is not among what is left")
  func ended() {
    let probes = stage.cast(1)
    let gate = Gate()
    let body = stage.perform { hub in await hub.delayingDrain { 7 } }
    #expect(body == 7)
    stage.hub[Listener.self].notify() { _ in await gate.pass() }
    stage.run()
    let left = stage.perform { hub in await hub.drain(within: .zero) }
    #expect(left?.subscribers.map(\.running) == [1])
    #expect(left?.delays == 0)
    stage.open(gate)
    withExtendedLifetime(probes) {}
  }

  @Test("what the body posts is waited for as well")
  func posting() {
    let probes = stage.cast(1)
    let (gate, handling) = (Gate(), Gate())
    _ = stage.start { hub in
      await hub.delayingDrain {
        await gate.pass()
        hub[Listener.self].notify() { probe in
          await handling.pass()
          probe.log.record(1)
        }
      }
    }
    let drain = stage.start { hub in await hub.drain() }
    stage.open(gate)
    #expect(drain.result == nil)
    stage.open(handling)
    #expect(drain.result?.isEmpty == true)
    #expect(probes[0].log.history == [1])
  }

  @Test("a drain from within the body waits for all else")
  func within() {
    let probes = stage.cast(1)
    let gate = Gate()
    let body = stage.start { hub in
      await hub.delayingDrain {
        hub[Listener.self].notify() { probe in
          await gate.pass()
          probe.log.record(1)
        }
        return await hub.drain().description
      }
    }
    #expect(body.result == nil)
    stage.open(gate)
    #expect(body.result == "delaying the drain: 1")
    #expect(probes[0].log.history == [1])
  }

  @Test("so does one from a task that the body awaits")
  func task() async {
    let hub = DelegateHub()
    let left = await hub.delayingDrain { await Task { await hub.drain() }.value }
    #expect(left.description == "delaying the drain: 1")
  }

  @Test("so does one from a handler of the body's own call, and from a body within the body")
  func nested() {
    let probes = stage.cast(1)
    let asked = stage.perform { hub in
      await hub.delayingDrain {
        await hub[Listener.self].ask(combining: .first()) { [hub] _ in await hub.drain() }
      }
    }
    #expect(asked??.delays == 1)
    #expect(asked??.subscribers.map(\.running) == [1])
    let doubled = stage.perform { hub in
      await hub.delayingDrain { await hub.delayingDrain { await hub.drain().delays } }
    }
    #expect(doubled == 2)
    withExtendedLifetime(probes) {}
  }

  @Test("of two bodies that drain, both go on")
  func two() {
    let gate = Gate()
    let calls = (0..<2).map { number in
      stage.start { hub in
        await hub.delayingDrain {
          await gate.pass()
          return await hub.drain().delays
        }
      }
    }
    stage.open(gate)
    // The one that began last excuses the other, which then waits for its end.
    #expect(calls.compactMap(\.result).sorted() == [1, 2])
  }

  @Test("in a handler, a drain from within waits for neither")
  func inHandler() {
    let probes = stage.cast(1)
    let drained = Recorder<DelegateHub.Leftovers>()
    stage.hub[Listener.self].notify() { [hub = stage.hub] _ in
      drained.record(await hub.delayingDrain { await hub.drain() })
    }
    stage.run()
    #expect(drained.history.map(\.delays) == [1])
    #expect(drained.history.map { $0.subscribers.map(\.running) } == [[1]])
    withExtendedLifetime(probes) {}
  }

  @Test("a task that the body left behind is no longer excused: it waits for the next body")
  func leftBehind() async {
    let hub = DelegateHub()
    let (first, second) = (Gate(), Gate())
    let events = Recorder<String>()
    let left = await hub.delayingDrain {
      Task {
        await first.pass()
        await hub.drain()
        events.record("drained")
      }
    }
    let next = Task {
      await hub.delayingDrain {
        await second.pass()
        events.record("ended")
      }
    }
    await second.arrivals()
    first.open()
    // As long as it would take if it did not wait.
    for _ in 0..<1000 { await Task.yield() }
    second.open()
    await left.value
    await next.value
    #expect(events.history == ["ended", "drained"])
  }

  @Test("what the body returns or throws is passed on, with its type")
  func results() async throws {
    let hub = DelegateHub()
    #expect(await hub.delayingDrain { 7 } == 7)
    do throws(Refusal) {
      try await hub.delayingDrain { () throws(Refusal) in throw Refusal(reason: "no") }
      Issue.record("it did not throw")
    } catch {
      #expect(error.reason == "no")
    }
    #expect(await hub.drain().isEmpty)
  }

  @Test("the body runs on the caller's actor")
  @MainActor
  func isolation() async {
    var count = 0
    await DelegateHub().delayingDrain {
      MainActor.assertIsolated()
      count += 1
      await Task.yield()
      MainActor.assertIsolated()
    }
    #expect(count == 1)
  }
}

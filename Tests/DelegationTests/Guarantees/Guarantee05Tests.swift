import Delegation
import Testing

@Suite("Guarantee 5: order", .inTurn)
struct Guarantee05Tests {
  @Test(
    "eight posters at once: one order for all subscribers, each poster's own, and one at a time")
  func manyPosters() async {
    for _ in rounds(10) {
      let (hub, busy) = (DelegateHub(), Recorder<String>())
      let probes = Probe.many(6)
      let inside = probes.map { _ in Guarded(0) }
      for (number, probe) in probes.enumerated() {
        hub.subscribe(probe, to: Listener.self, priority: number % 3)
      }
      await withTaskGroup { group in
        for poster in 0..<8 {
          group.addTask {
            for number in 0..<50 {
              let event = poster * 1000 + number
              if number % 3 == 0 {
                hub.listeners.notify { probe in
                  let own = inside[Int(probe.name)!]
                  if own.withLock({
                    $0 += 1; return $0
                  }) > 1 {
                    busy.record(probe.name)
                  }
                  // Each subscriber is held up elsewhere.
                  if event % 6 == Int(probe.name) { await Task.yield() }
                  probe.log.record(event)
                  own.withLock { $0 -= 1 }
                }
              } else {
                hub.listeners.notify { probe in
                  if inside[Int(probe.name)!].withLock({ $0 }) > 0 { busy.record(probe.name) }
                  probe.log.record(event)
                }
              }
              if number % 8 == poster { await Task.yield() }
            }
          }
        }
      }
      await hub.drain()
      let order = probes[0].log.history
      #expect(order.count == 400 && probes.allSatisfy { $0.log.history == order })
      #expect(busy.history == [], "handled two at once")
      for poster in 0..<8 {
        #expect(order.filter { $0 / 1000 == poster } == (0..<50).map { poster * 1000 + $0 })
      }
    }
  }

  @Test("the next notification waits until a suspended handler has returned, whatever its own form")
  func behindSuspended() {
    let (stage, gates) = (Stage(), [Gate(), Gate()])
    let probe = stage.hub.cast(1)[0]
    for (number, gate) in gates.enumerated() {
      stage.listeners.notify { probe in
        probe.log.record(number)
        await gate.pass()
        probe.log.record(-number)
      }
    }
    stage.listeners.notify { $0.log.record(2) }
    stage.run()
    stage.open(gates[1])
    #expect(probe.log.history == [0])
    stage.open(gates[0])
    #expect(probe.log.history == [0, 0, 1, -1, 2])
  }

  @Test(
    "what a handler posts comes after the present notification, in its order",
    arguments: [false, true])
  func postedByHandler(suspends: Bool) async throws {
    let hub = DelegateHub()
    let probes = hub.cast(3)
    for number in 1...3 {
      hub.listeners.notify { probe in
        probe.log.record(number)
        if probe.name == "0" {
          hub.listeners.notify { $0.log.record(number * 10) }
          hub.listeners.notify { $0.log.record(number * 10 + 1) }
        }
        if suspends { await Task.yield() }
        probe.log.record(-number)
      }
    }
    await hub.drain()
    let order = probes[0].log.history
    #expect(probes.allSatisfy { $0.log.history == order })
    #expect(order.filter { abs($0) < 10 } == [1, -1, 2, -2, 3, -3])
    for number in 1...3 {
      #expect(order.filter { $0 / 10 == number } == [number * 10, number * 10 + 1])
      let (begin, end) = try (
        #require(order.firstIndex(of: number)), #require(order.firstIndex(of: -number))
      )
      #expect(begin + 1 == end && order.firstIndex(of: number * 10)! > end)
    }
  }

  @Test("what a voter posts comes in the order in which it posts; a chain of posts runs to its end")
  func chain() async {
    let hub = DelegateHub()
    let (probes, voter) = (hub.cast(2), Probe("voter"))
    hub.subscribe(voter, to: Bystander.self)
    @Sendable func post(_ number: Int) {
      hub.listeners.notify { probe in
        probe.log.record(number)
        if probe.name == "\(number % 2)", number < 1000 { post(number + 1) }
      }
    }
    hub.listeners.notify { $0.log.record(-3) }
    _ = await hub.bystanders.vote { _ in
      hub.listeners.notify { $0.log.record(-2) }
      await Task.yield()
      hub.listeners.notify { $0.log.record(-1) }
      return true
    }
    post(0)
    await hub.drain()
    #expect(probes.map(\.log.history) == [Array(-3...1000), Array(-3...1000)])
  }

  @Test(
    "forEach goes event by event, by priority, then by subscription; reversed, the other way round")
  func forEach() async {
    let (hub, events, probes) = (DelegateHub(), Recorder<String>(), Probe.many(4))
    for (probe, priority) in zip(probes, [0, 1, 0, 1]) {
      hub.subscribe(probe, to: Listener.self, priority: priority)
    }
    for event in ["a", "b"] {
      hub.listeners.forEach { events.record(event + $0.name) }
      await hub.listeners.forEach(reversed: true) {
        await Task.yield()
        events.record(event + $0.name)
      }
    }
    #expect(
      events.history
        == ["a", "b"].flatMap { event in [1, 3, 0, 2, 2, 0, 3, 1].map { "\(event)\($0)" } })
  }

  @Test("one that subscribes again after cancelAndWait is never called by both at once")
  func again() async {
    let (hub, wrong) = (DelegateHub(), Recorder<Int>())
    let probes = Probe.many(3)
    let inside = probes.map { _ in Guarded(0) }
    await withTaskGroup { group in
      for (number, probe) in probes.enumerated() {
        group.addTask {
          for _ in rounds(200) {
            let token = hub.subscribe(probe, to: Listener.self, id: number)
            hub.listeners.notify { probe in
              let own = inside[Int(probe.name)!]
              let count = own.withLock {
                $0 += 1; return $0
              }
              if count > 1 { wrong.record(count) }
              await Task.yield()
              own.withLock { $0 -= 1 }
            }
            await Task.yield()
            await token.cancelAndWait()
          }
        }
      }
    }
    #expect(await hub.drain().isEmpty && wrong.history == [])
    #expect(hub.counted.handled > 0)
  }
}

import Testing

@testable import Delegation

@Suite("Guarantee 5: order", .inTurn)
struct Guarantee05OrderTests {
  @Test("eight posters at once: one order for all subscribers, and each poster's own")
  func manyPosters() async {
    for _ in rounds(10) {
      let hub = DelegateHub()
      let probes = Probe.many(6)
      for (number, probe) in probes.enumerated() {
        hub.subscribe(probe, to: Listener.self, priority: number % 3)
      }
      await withTaskGroup { group in
        for poster in 0..<8 {
          group.addTask {
            for number in 0..<50 {
              let event = poster * 1000 + number
              if number % 3 == 0 {
                hub[Listener.self].notify() { probe in
                  // Each subscriber is held up elsewhere.
                  if event % 6 == Int(probe.name) { await Task.yield() }
                  probe.log.record(event)
                }
              } else {
                hub[Listener.self].notify() { $0.log.record(event) }
              }
              if number % 8 == poster { await Task.yield() }
            }
          }
        }
      }
      await hub.drain()
      let order = probes[0].log.history
      #expect(order.count == 400)
      for probe in probes { #expect(probe.log.history == order) }
      for poster in 0..<8 {
        let own = order.filter { $0 / 1000 == poster }
        #expect(own == (0..<50).map { poster * 1000 + $0 })
      }
    }
  }

  @Test("a subscriber handles one notification at a time, though its handlers suspend")
  func oneAtATime() async throws {
    for _ in rounds(10) {
      let hub = DelegateHub()
      let probes = Probe.many(3)
      for probe in probes { hub.subscribe(probe, to: Listener.self) }
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<25 {
              hub[Listener.self].notify() { probe in
                probe.log.record(1)
                await Task.yield()
                probe.log.record(-1)
              }
              hub[Listener.self].notify() { probe in
                probe.log.record(2)
                probe.log.record(-2)
              }
            }
          }
        }
      }
      await hub.drain()
      for probe in probes {
        let history = probe.log.history
        try #require(history.count == 400)
        for index in stride(from: 0, to: history.count, by: 2) {
          #expect(history[index] > 0 && history[index + 1] == -history[index])
        }
      }
    }
  }

  @Test("the next notification waits until a suspended handler has returned")
  func behindSuspended() {
    let executor = ManualExecutor()
    let hub = DelegateHub(on: executor)
    let gates = [Gate(), Gate()]
    let probe = Probe()
    hub.subscribe(probe, to: Listener.self)
    for (number, gate) in gates.enumerated() {
      hub[Listener.self].notify() { probe in
        probe.log.record(number)
        await gate.pass()
        probe.log.record(-number)
      }
    }
    hub[Listener.self].notify() { $0.log.record(2) }
    executor.run()
    #expect(probe.log.history == [0])
    gates[1].open()
    executor.run()
    #expect(probe.log.history == [0])
    gates[0].open()
    executor.run()
    #expect(probe.log.history == [0, 0, 1, -1, 2])
  }

  @Test("what a handler posts comes after the present notification", arguments: [false, true])
  func postedByHandler(suspends: Bool) async throws {
    let hub = DelegateHub()
    let probes = Probe.many(3)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    for number in 1...3 {
      hub[Listener.self].notify() { probe in
        probe.log.record(number)
        if probe.name == "0" {
          hub[Listener.self].notify() { $0.log.record(number * 10) }
          hub[Listener.self].notify() { $0.log.record(number * 10 + 1) }
        }
        if suspends { await Task.yield() }
        probe.log.record(-number)
      }
    }
    await hub.drain()
    let order = probes[0].log.history
    for probe in probes { #expect(probe.log.history == order) }
    let present = order.filter { abs($0) < 10 }
    #expect(present == [1, -1, 2, -2, 3, -3])
    for number in 1...3 {
      let posted = order.filter { $0 / 10 == number }
      #expect(posted == [number * 10, number * 10 + 1])
      let begin = try #require(order.firstIndex(of: number))
      let end = try #require(order.firstIndex(of: -number))
      #expect(begin + 1 == end)
      #expect(try #require(order.firstIndex(of: number * 10)) > end)
    }
  }

  @Test("what a voter posts comes in the order in which it posts")
  func postedByVoter() async {
    let hub = DelegateHub()
    let (voter, listener) = (Probe("voter"), Probe("listener"))
    hub.subscribe(voter, to: Bystander.self)
    hub.subscribe(listener, to: Listener.self)
    hub[Listener.self].notify() { $0.log.record(1) }
    _ = await hub[Bystander.self].vote() { _ in
      hub[Listener.self].notify() { $0.log.record(2) }
      await Task.yield()
      hub[Listener.self].notify() { $0.log.record(3) }
      return true
    }
    hub[Listener.self].notify() { $0.log.record(4) }
    await hub.drain()
    #expect(listener.log.history == [1, 2, 3, 4])
  }

  @Test("a chain of handlers that each post the next runs to its end, in order")
  func chain() async {
    let hub = DelegateHub()
    let probes = Probe.many(2)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    @Sendable func post(_ number: Int) {
      hub[Listener.self].notify() { probe in
        probe.log.record(number)
        if probe.name == "\(number % 2)", number < 1000 { post(number + 1) }
      }
    }
    post(0)
    await hub.drain()
    #expect(probes.map(\.log.history) == [Array(0...1000), Array(0...1000)])
  }
}

import Testing

@testable import Delegation

@Suite("pass", .inTurn)
struct PassTests {
  @Test("each gets what the one before returned")
  func handedOn() {
    let stage = Stage()
    let got = Recorder<String>()
    let probes = stage.cast(4)
    let value = stage.perform { hub in
      await hub[Listener.self].pass("value") { probe, value in
        got.record(value)
        return probe.name == "2" ? value : value + " " + probe.name
      }
    }
    #expect(value == "value 0 1 3")
    #expect(got.history == ["value", "value 0", "value 0 1", "value 0 1"])
    withExtendedLifetime(probes) {}
  }

  @Test("the value waits for each, one after another")
  func oneAfterAnother() {
    let stage = Stage()
    let gates = (0..<3).map { _ in Gate() }
    let events = Recorder<String>()
    let probes = stage.cast(3)
    let pass = stage.start { hub in
      await hub[Listener.self].pass(0) { probe, value in
        events.record("\(probe.name) gets \(value)")
        await gates[Int(probe.name)!].pass()
        events.record("\(probe.name) returns \(value + 1)")
        return value + 1
      }
    }
    for gate in gates[1...] { stage.open(gate) }
    #expect(events.history == ["0 gets 0"])
    #expect(pass.result == nil)
    stage.open(gates[0])
    #expect(
      events.history
        == (0..<3).flatMap { ["\($0) gets \($0)", "\($0) returns \($0 + 1)"] })
    #expect(pass.result == 3)
    withExtendedLifetime(probes) {}
  }

  @Test("never two have the value at once, whatever their number", arguments: [1, 2, 100])
  func neverTwo(count: Int) async {
    let hub = DelegateHub()
    let probes = Probe.many(count)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let value = await hub[Listener.self].pass([Int]()) { probe, value in
      await Task.yield()
      return value + [Int(probe.name)!]
    }
    #expect(value == Array(0..<count))
  }

  @Test("nil stops it, and nobody after is called", arguments: 0..<5)
  func stops(place: Int) {
    let stage = Stage()
    let probes = stage.cast(5)
    let value = stage.perform { hub in
      await hub[Listener.self].pass("value") { probe, value in
        probe.log.record(1)
        return Int(probe.name)! == place ? nil : value
      }
    }
    #expect(value == .some(nil))
    #expect(probes.map(\.log.history) == (0..<5).map { $0 <= place ? [1] : [] })
  }

  @Test("the order is that of priorities first")
  func priorities() {
    let stage = Stage()
    let probes = Probe.many(4)
    for (probe, priority) in zip(probes, [0, 5, -1, 5]) {
      stage.hub.subscribe(probe, to: Listener.self, priority: priority)
    }
    let value = stage.perform { hub in
      await hub[Listener.self].pass("") { $1 + $0.name }
    }
    #expect(value == "1302")
    withExtendedLifetime(probes) {}
  }

  @Test("with nobody subscribed it comes back as it is")
  func nobody() {
    let value = Stage().perform { await $0[Listener.self].pass("value") { _, _ in nil } }
    #expect(value == "value")
  }

  @Test("an optional value may be passed, and its nil is not a stop")
  func optionalValues() {
    let stage = Stage()
    let probes = stage.cast(2)
    let value = stage.perform { hub in
      await hub[Listener.self].pass(Int?.some(1)) { probe, value -> Int?? in
        probe.name == "0" ? .some(nil) : .some(value == nil ? 7 : 8)
      }
    }
    #expect(value == 7)
    withExtendedLifetime(probes) {}
  }

  @Test("those who die or are removed on the way are skipped, those who come on it not called")
  func changesOnTheWay() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(2)
    var mortal: Probe? = Probe("mortal")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    let (last, newcomer) = (Probe("last"), Probe("newcomer"))
    stage.hub.subscribe(last, to: Listener.self)
    let pass = stage.start { hub in
      await hub[Listener.self].pass("value") { probe, value in
        await gate.pass()
        return value + " " + probe.name
      }
    }
    stage.hub.unsubscribe(probes[1])
    mortal = nil
    stage.hub.subscribe(newcomer, to: Listener.self)
    stage.open(gate)
    #expect(pass.result == "value 0 last")
  }

  @Test("an error ends the call and is rethrown with its type")
  func errors() {
    let stage = Stage()
    let probes = stage.cast(3)
    let refusal = stage.perform { hub -> Refusal? in
      do throws(Refusal) {
        _ = try await hub[Listener.self].pass("") { probe, value throws(Refusal) in
          probe.log.record(1)
          if probe.name == "1" { throw Refusal(reason: value) }
          return value + probe.name
        }
        return nil
      } catch {
        return error
      }
    }
    #expect(refusal == Refusal(reason: "0"))
    #expect(probes.map(\.log.history) == [[1], [1], []])
  }

  @Test("handlers see when the caller is cancelled, and the value goes on")
  func cancelled() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(3)
    let pass = stage.start { hub in
      await hub[Listener.self].pass([Bool]()) { probe, value in
        if probe.name == "1" { await gate.pass() }
        return value + [Task.isCancelled]
      }
    }
    pass.cancel()
    stage.run()
    #expect(pass.result == nil)
    stage.open(gate)
    #expect(pass.result == [false, true, true])
    withExtendedLifetime(probes) {}
  }

  @Test("a handler may drain, end its own subscription and wait, ask and pass")
  func reentrancy() {
    let stage = Stage()
    let own = Probe("own")
    let other = Probe("other")
    let subscription = stage.hub.subscribe(own, to: Listener.self)
    stage.hub.subscribe(other, to: Listener.self)
    let value = stage.perform { hub in
      await hub[Listener.self].pass(["start"]) { probe, value -> [String]? in
        guard probe.name == "own" else { return value + [probe.name] }
        hub[Listener.self].notify() { $0.log.record(7) }
        let drained = await hub.drain().subscribers.map(\.running) == [1]
        let voted = await hub[Listener.self].vote() { _ in true }
        await subscription.cancelAndWait()
        let inner = await hub[Listener.self].pass("v") { $1 + $0.name }
        return value + ["\(drained)", "\(voted)", inner ?? ""]
      }
    }
    #expect(value == ["start", "true", "true", "vother", "other"])
    #expect(own.log.history == [7])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("what a handler held is released when the value has moved on")
  func release() {
    let stage = Stage()
    let lifetimes = Lifetimes()
    let alive = Recorder<Int>()
    let probes = stage.cast(3)
    let last = stage.perform { hub in
      await hub[Listener.self].pass(lifetimes.make()) { _, _ in
        alive.record(lifetimes.alive)
        return lifetimes.make()
      } != nil
    }
    #expect(last == true)
    // The one in hand, and the one passed in if the caller still holds it.
    #expect(alive.history.allSatisfy { $0 <= 2 }, "\(alive.history)")
    #expect(lifetimes.alive == 0)
    withExtendedLifetime(probes) {}
  }
}

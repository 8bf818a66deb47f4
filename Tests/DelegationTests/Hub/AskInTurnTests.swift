import Testing

@testable import Delegation

@Suite("first", .inTurn)
struct FirstTests {
  @Test("they are asked one after another, each when the one before has returned")
  func oneAfterAnother() {
    let stage = Stage()
    let gates = (0..<4).map { _ in Gate() }
    let events = Recorder<String>()
    let probes = stage.cast(4)
    let first = stage.start { hub in
      await hub[Listener.self].askInTurn() { probe -> Int? in
        events.record("\(probe.name) begins")
        await gates[Int(probe.name)!].pass()
        events.record("\(probe.name) ends")
        return nil
      }
    }
    // The gates of those to come are open already: nobody is ahead of its turn all the same.
    for gate in gates[1...] { stage.open(gate) }
    #expect(events.history == ["0 begins"])
    #expect(first.result == nil)
    stage.open(gates[0])
    #expect(events.history == probes.flatMap { ["\($0.name) begins", "\($0.name) ends"] })
    #expect(first.result == .some(nil))
  }

  @Test("never are two asked at once, whatever their number", arguments: [1, 2, 100])
  func neverTwo(count: Int) async {
    let hub = DelegateHub()
    let probes = Probe.many(count)
    for probe in probes { hub.subscribe(probe, to: Listener.self) }
    let events = Recorder<String>()
    let answer = await hub[Listener.self].askInTurn() { probe -> Int? in
      events.record("\(probe.name) begins")
      await Task.yield()
      events.record("\(probe.name) ends")
      return nil
    }
    #expect(answer == nil)
    #expect(events.history == probes.flatMap { ["\($0.name) begins", "\($0.name) ends"] })
  }

  @Test("the first answer is returned, and nobody after it is asked", arguments: 0..<5)
  func stops(place: Int) {
    let stage = Stage()
    let probes = stage.cast(5)
    let answer = stage.perform { hub in
      await hub[Listener.self].askInTurn() { probe in
        probe.log.record(1)
        return Int(probe.name)! >= place ? "answer of \(probe.name)" : nil
      }
    }
    #expect(answer == "answer of \(place)")
    #expect(probes.map(\.log.history) == (0..<5).map { $0 <= place ? [1] : [] })
  }

  @Test("the order is that of priorities first")
  func priorities() {
    let stage = Stage()
    let asked = Recorder<String>()
    let probes = Probe.many(4)
    for (probe, priority) in zip(probes, [0, 5, -1, 5]) {
      stage.hub.subscribe(probe, to: Listener.self, priority: priority)
    }
    let answer = stage.perform { hub in
      await hub[Listener.self].askInTurn() { probe -> Int? in
        asked.record(probe.name)
        return nil
      }
    }
    #expect(answer == .some(nil))
    #expect(asked.history == ["1", "3", "0", "2"])
    withExtendedLifetime(probes) {}
  }

  @Test("nobody subscribed, no answer")
  func nobody() {
    #expect(Stage().perform { await $0[Listener.self].askInTurn() { $0.name } } == .some(nil))
  }

  @Test("those who die or are removed on the way are skipped, those who come on it not asked")
  func changesOnTheWay() {
    let stage = Stage()
    let gate = Gate()
    let asked = Recorder<String>()
    let probes = stage.cast(2)
    var mortal: Probe? = Probe("mortal")
    if let mortal { stage.hub.subscribe(mortal, to: Listener.self) }
    let (last, newcomer) = (Probe("last"), Probe("newcomer"))
    stage.hub.subscribe(last, to: Listener.self)
    let first = stage.start { hub in
      await hub[Listener.self].askInTurn() { probe -> Int? in
        asked.record(probe.name)
        await gate.pass()
        return nil
      }
    }
    stage.hub.unsubscribe(probes[1])
    mortal = nil
    stage.hub.subscribe(newcomer, to: Listener.self)
    stage.open(gate)
    #expect(first.result == .some(nil))
    #expect(asked.history == ["0", "last"])
  }

  @Test("an error ends the call and is rethrown with its type")
  func errors() {
    let stage = Stage()
    let probes = stage.cast(3)
    let refusal = stage.perform { hub -> Refusal? in
      do throws(Refusal) {
        _ = try await hub[Listener.self].askInTurn() { probe throws(Refusal) -> Int? in
          probe.log.record(1)
          if probe.name == "1" { throw Refusal(reason: probe.name) }
          return nil
        }
        return nil
      } catch {
        return error
      }
    }
    #expect(refusal == Refusal(reason: "1"))
    #expect(probes.map(\.log.history) == [[1], [1], []])
  }

  @Test("an answer before an error is the outcome")
  func answerBeforeError() async throws {
    let stage = Stage()
    let probes = stage.cast(2)
    let answer = stage.perform { hub in
      try? await hub[Listener.self].askInTurn() { probe in
        if probe.name == "1" { throw Refusal() }
        return probe.name
      }
    }
    #expect(answer == "0")
    withExtendedLifetime(probes) {}
  }

  @Test("handlers run in the caller's task and see when it is cancelled")
  func cancelled() {
    let stage = Stage()
    let gate = Gate()
    let seen = Recorder<Bool>()
    let tasks = Recorder<Int?>()
    let probes = stage.cast(3)
    let first = stage.start { hub in
      tasks.record(withUnsafeCurrentTask { $0?.hashValue })
      return await hub[Listener.self].askInTurn() { probe -> Int? in
        tasks.record(withUnsafeCurrentTask { $0?.hashValue })
        seen.record(Task.isCancelled)
        if probe.name == "1" { await gate.pass() }
        seen.record(Task.isCancelled)
        return nil
      }
    }
    first.cancel()
    stage.run()
    #expect(seen.history == [false, false, false])
    stage.open(gate)
    #expect(seen.history == [false, false, false, true, true, true])
    #expect(first.result == .some(nil))
    #expect(Set(tasks.history).count == 1)
    withExtendedLifetime(probes) {}
  }

  @Test("a handler may drain, end its own subscription and wait, ask and ask first")
  func reentrancy() {
    let stage = Stage()
    let own = Probe("own")
    let other = Probe("other")
    let subscription = stage.hub.subscribe(own, to: Listener.self)
    stage.hub.subscribe(other, to: Listener.self)
    let answer = stage.perform { hub in
      await hub[Listener.self].askInTurn() { probe -> [String]? in
        guard probe.name == "own" else { return nil }
        hub[Listener.self].notify() { $0.log.record(7) }
        let drained = await hub.drain().subscribers.map(\.running) == [1]
        let voted = await hub[Listener.self].vote() { await $0.log.history(of: 1) == [7] }
        await subscription.cancelAndWait()
        let inner = await hub[Listener.self].askInTurn() { $0.name }
        let passed = await hub[Listener.self].pass("v") { $1 + $0.name }
        return ["\(drained)", "\(voted)", inner ?? "", passed ?? ""]
      }
    }
    #expect(answer == ["true", "true", "other", "vother"])
    #expect(own.log.history == [7])
    #expect(stage.perform { await $0.drain().isEmpty } == true)
  }

  @Test("drain from outside waits for it")
  func drain() {
    let stage = Stage()
    let gate = Gate()
    let probes = stage.cast(1)
    let first = stage.start { hub in
      await hub[Listener.self].askInTurn() { probe -> String? in
        await gate.pass()
        return probe.name
      }
    }
    let drain = stage.start { await $0.drain().isEmpty }
    #expect(drain.result == nil)
    stage.open(gate)
    #expect(drain.result == true)
    #expect(first.result == "0")
    withExtendedLifetime(probes) {}
  }
}
